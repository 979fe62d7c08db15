/**
 * What was done, kept in this browser: the same list as lessons/progress.py keeps, and `jumok lesson --progress -o`
 * writes. Where the browser keeps nothing it is kept until the page is closed, and the page says so.
 */
import { signal } from "@preact/signals";
import { jsonOf } from "./asking";

const FORMAT = "jumok-progress";
const DRAFTS = "jumok-drafts";
const HOWS = ["read", "right", "guessed", "seen"] as const;
export type How = (typeof HOWS)[number];

export interface Done {
  readonly lesson: string;
  readonly id: string;
  readonly how: How;
  readonly when: string;
}

/** What of a browser's storage is used. */
export type Store = Pick<Storage, "getItem" | "setItem">;

export class Kept {
  readonly done = signal<readonly Done[]>([]);
  /** The browser keeps nothing of this page. */
  readonly isRefused = signal(false);
  readonly #drafts = new Map<string, string>();

  /** `store` gives the storage, or throws where the browser refuses it. */
  constructor(readonly store: () => Store) {
    this.read();
  }

  /** What stands in the storage now: another page may have added to it. */
  read(): void {
    const text = this.#get(FORMAT);
    if (text !== null) this.done.value = listOf(text) ?? [];
  }

  add(lesson: string, id: string, how: How): void {
    this.read();
    const isThere = this.done.peek().some((one) => one.lesson === lesson && one.id === id && one.how === how);
    const when = `${new Date().toISOString().slice(0, 19)}+00:00`;
    if (!isThere) this.#write([...this.done.peek(), { lesson, id, how, when }]);
  }

  has(lesson: string, id: string, how: How): boolean {
    return this.done.value.some((one) => one.lesson === lesson && one.id === id && one.how === how);
  }

  /** All of it as the file that Python reads. */
  exported(): string {
    return `${JSON.stringify({ format: FORMAT, version: 1, done: this.done.peek() }, null, 1)}\n`;
  }

  /** Add what a file holds and is not here; how much that was, null where it is another file. */
  bring(text: string): number | null {
    const brought = listOf(text);
    if (brought === null) return null;
    this.read();
    const own = new Set(this.done.peek().map(keyOf));
    const fresh = brought.filter((one) => !own.has(keyOf(one)));
    this.#write([...this.done.peek(), ...fresh]);
    return fresh.length;
  }

  /** What somebody wrote and did not hand in, by a name. */
  draft(name: string): string | null {
    return this.#drafts.get(name) ?? this.#get(`${DRAFTS}:${name}`);
  }

  keep(name: string, text: string): void {
    this.#drafts.set(name, text);
    this.#set(`${DRAFTS}:${name}`, text);
  }

  #write(done: readonly Done[]): void {
    this.done.value = done;
    this.#set(FORMAT, JSON.stringify({ format: FORMAT, version: 1, done }));
  }

  #get(name: string): string | null {
    try {
      return this.store().getItem(name);
    } catch {
      this.isRefused.value = true;
      return null;
    }
  }

  #set(name: string, text: string): void {
    try {
      this.store().setItem(name, text);
    } catch {
      this.isRefused.value = true;
    }
  }
}

function keyOf({ lesson, id, how, when }: Done): string {
  return JSON.stringify([lesson, id, how, when]);
}

function listOf(text: string): readonly Done[] | null {
  const plain = jsonOf(text);
  if (plain?.format !== FORMAT || !Array.isArray(plain.done)) return null;
  return plain.done.filter(isDone);
}

function isDone(value: unknown): value is Done {
  const { lesson, id, how, when } = (value ?? {}) as Partial<Done>;
  return [lesson, id, when].every((text) => typeof text === "string") && (HOWS as readonly unknown[]).includes(how);
}
