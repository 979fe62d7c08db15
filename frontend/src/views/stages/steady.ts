/**
 * An edit computes everything anew, and most of it is what it was. What is equal to what it was stays the same object: a component
 * draws again only where a signal that it read, or one of its properties, is another.
 */
import { computed, type ReadonlySignal } from "@preact/signals";

/** A computed value, each part of which stays the same object for as long as it is equal. */
export function steady<T>(compute: () => T): ReadonlySignal<T> {
  let last: T | undefined;
  return computed(() => (last = shared(last, compute())));
}

type Parts = Record<string, unknown>;

/** `now`, with each part that is what it was before replaced by that. Plain data: records, lists, maps, numbers, texts. */
export function shared<T>(before: unknown, now: T): T {
  if (!isOfOneKind(before, now)) return now;
  if (now instanceof Map) return sharedMap(before as Map<unknown, unknown>, now) as T;
  if (ArrayBuffer.isView(now)) return isEqual(before as Float64Array, now as unknown as Float64Array) ? (before as T) : now;
  const [was, is] = [before as Parts, now as Parts];
  const names = Object.keys(is);
  const made = (Array.isArray(now) ? [] : {}) as Parts;
  for (const name of names) made[name] = shared(was[name], is[name]);
  const isKept = names.length === Object.keys(was).length && names.every((name) => made[name] === was[name]);
  return (isKept ? was : made) as T;
}

function sharedMap(was: Map<unknown, unknown>, is: Map<unknown, unknown>): Map<unknown, unknown> {
  const made = new Map(Array.from(is, ([name, part]) => [name, shared(was.get(name), part)]));
  const isKept = made.size === was.size && [...made].every(([name, part]) => was.has(name) && was.get(name) === part);
  return isKept ? was : made;
}

/** Whether both are objects, of one kind, and not the same one. */
function isOfOneKind(before: unknown, now: unknown): boolean {
  if (before === now || typeof before !== "object" || typeof now !== "object") return false;
  return before !== null && now !== null && before.constructor === now.constructor;
}

function isEqual(before: Float64Array, now: Float64Array): boolean {
  return before.length === now.length && now.every((value, at) => value === before[at]);
}
