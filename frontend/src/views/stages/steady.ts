/**
 * An edit computes everything anew, and most of it is what it was. What is equal to what it was stays the same object:
 * a component draws again only where a signal that it read, or one of its properties, is another.
 */
import { computed, type ReadonlySignal } from "@preact/signals";

/** A computed value, each part of which stays the same object for as long as it is equal. */
export function steady<T>(compute: () => T): ReadonlySignal<T> {
  let last: T | undefined;
  return computed(() => (last = shared(last, compute())));
}

type Parts = Record<string, unknown>;
type Parted = Map<unknown, unknown>;
/** Of any width: only what all typed arrays can is asked of it. */
type Numbers = Float64Array;

/** `now`, with each part that is what it was before replaced by that. Plain data: records, lists, maps, numbers, texts. */
export function shared<T>(before: unknown, now: T): T {
  if (!isOfOneKind(before, now)) return now;
  if (now instanceof Map) return sharedMap(before as Parted, now) as T;
  if (ArrayBuffer.isView(now)) return (isEqual(before as Numbers, now as unknown as Numbers) ? before : now) as T;
  return sharedParts(before as Parts, now as Parts) as T;
}

/** Of a record or a list. */
function sharedParts(was: Parts, is: Parts): Parts {
  const made = (Array.isArray(is) ? [] : {}) as Parts;
  const names = Object.keys(is);
  for (const name of names) made[name] = shared(was[name], is[name]);
  const isKept = names.every((name) => name in was && made[name] === was[name]);
  return isKept && names.length === Object.keys(was).length ? was : made;
}

function sharedMap(was: Parted, is: Parted): Parted {
  const made = new Map(Array.from(is, ([name, part]) => [name, shared(was.get(name), part)]));
  const isKept = [...made].every(([name, part]) => was.has(name) && was.get(name) === part);
  return isKept && made.size === was.size ? was : made;
}

/** Whether both are objects, of one kind, and not the same one. */
function isOfOneKind(before: unknown, now: unknown): boolean {
  if (before === now || typeof before !== "object" || typeof now !== "object") return false;
  return before !== null && now !== null && before.constructor === now.constructor;
}

function isEqual(before: Numbers, now: Numbers): boolean {
  return before.length === now.length && before.every((value, at) => value === now[at]);
}
