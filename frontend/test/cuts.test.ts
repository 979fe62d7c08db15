import assert from "node:assert/strict";
import { test } from "node:test";
import { Cuts, isCutAt, type Cut } from "../src/cuts";
import type { Listener, Model } from "../src/hosts/model";

const CELL = { document: 0, layer: 1, head: 2, query: 3, key: 2 };

function cut(some: Partial<Cut> = {}): Cut {
  const texts = { query_text: "it", key_text: "cat" };
  return { ...CELL, ...texts, weight: 0.5, way: "zero", kind: "vectors", changes: [], guesses: [], ...some };
}

/** A host with a model behind it, which answers when told to. */
class Host implements Model {
  cuts: readonly Cut[] = [];
  readonly sent: { readonly kind: string; readonly number: number }[] = [];
  readonly listeners = new Map<string, Set<Listener>>();

  get = (name: string): unknown => (name === "cuts" ? this.cuts : name === "cutter");
  set = (): void => undefined;
  save_changes = (): void => undefined;
  on = (event: string, listener: Listener): void => void this.#of(event).add(listener);
  off = (event: string, listener: Listener): void => void this.#of(event).delete(listener);
  send = (content: unknown): void => void this.sent.push(content as Host["sent"][number]);

  say(event: string, content?: unknown): void {
    for (const listener of [...this.#of(event)]) listener(content, []);
  }

  #of(event: string): Set<Listener> {
    if (!this.listeners.has(event)) this.listeners.set(event, new Set());
    return this.listeners.get(event)!;
  }
}

test("cuts that Python makes meanwhile come too, until the view is gone", () => {
  const host = new Host();
  const cuts = new Cuts(host);
  host.cuts = [cut()];
  host.say("change:cuts");
  assert.equal(cuts.all.value.length, 1);
  cuts.dispose();
  host.cuts = [];
  host.say("change:cuts");
  assert.equal(cuts.all.value.length, 1);
});

test("a cut is asked for, and one that is made again takes the place of the first", async () => {
  const host = new Host();
  host.cuts = [cut({ weight: 0.1 }), cut({ way: "renormalised" })];
  const cuts = new Cuts(host);
  const made = cuts.make(CELL, false);
  assert.equal(cuts.state.value, "asking");
  assert.deepEqual(host.sent, [{ kind: "cut", number: 1, layer: 1, head: 2, query: 3, key: 2, renormalise: false }]);
  host.say("msg:custom", { kind: "cut", number: 1, cut: cut() });
  await made;
  assert.equal(cuts.state.value, "idle");
  assert.deepEqual(cuts.all.value, [cut({ way: "renormalised" }), cut()]);
});

test("an error is kept with its cell, and gone when it is tried again", async () => {
  const host = new Host();
  const cuts = new Cuts(host);
  const made = cuts.make(CELL, true);
  host.say("msg:custom", { kind: "cut", number: 1, error: { en: "no", ko: "안 됨" } });
  await made;
  assert.deepEqual(cuts.wrong.value, { cell: CELL, text: { en: "no", ko: "안 됨" } });
  void cuts.make(CELL, true);
  assert.equal(cuts.wrong.value, null);
  host.say("msg:custom", { kind: "cut", number: 2, cut: cut() });
});

test("what was cut for every token, every key or a whole head is cut at each of its cells", () => {
  assert.ok([cut(), cut({ query: null }), cut({ key: null }), cut({ query: null, key: null })].every((one) => isCutAt(one, CELL)));
  for (const other of [{ document: 1 }, { layer: 0 }, { head: 1 }, { query: 2 }, { key: 3 }]) {
    assert.ok(!isCutAt(cut(), { ...CELL, ...other }));
  }
});
