import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals";
import { shared, steady } from "../src/views/stages/steady";

const made = () => ({
  name: "weights",
  rows: [{ at: 0, token: null }, { at: 1, token: null }],
  values: Float64Array.of(0.25, 0.75),
  marks: new Map([["q", ["0,1"]], ["k", []]]),
});

test("what is equal stays the same object", () => {
  const before = made();
  assert.equal(shared(before, made()), before);
});

test("of what is another, the parts that are equal stay the same objects", () => {
  const before = made();
  const now = { ...made(), rows: [{ at: 0, token: null }, { at: 2, token: null }], marks: new Map([["q", ["1,1"]], ["k", []]]) };
  const got = shared(before, now);
  assert.deepEqual(got, now);
  assert.equal(got.values, before.values);
  assert.equal(got.rows[0], before.rows[0]);
  assert.equal(got.marks.get("k"), before.marks.get("k"));
});

test("nothing that is another is taken for what it was", () => {
  const others: [unknown, unknown][] = [
    [Float64Array.of(1, 2), Float64Array.of(1, 3)], [Float64Array.of(1, 2), Float64Array.of(1)], [[1, 2], [1]], [[1], [1, 2]],
    [{ a: 1 }, { a: 1, b: 2 }], [{ a: 1, b: 2 }, { a: 1 }], [{ a: undefined }, { b: undefined }], [null, {}], [{}, null], [[], {}],
    [new Map([["a", undefined]]), new Map([["b", undefined]])], [new Map([["a", 1], ["b", 2]]), new Map([["a", 1]])],
    [Uint8Array.of(1), Float64Array.of(1)], [0, -1], ["1", 1],
  ];
  for (const [before, now] of others) {
    const got = shared(before, now);
    assert.deepEqual(got, now);
    assert.notEqual(got, before);
  }
});

test("who reads a steady value is told only where it is another", () => {
  const sheet = signal({ w_q: [1, 2], w_k: [3, 4] });
  const tables = steady(() => [sheet.value.w_q, sheet.value.w_k]);
  const seen: unknown[] = [];
  const stop = tables.subscribe((now) => void seen.push(now[1]));
  sheet.value = { w_q: [1, 2], w_k: [3, 4] };
  assert.equal(seen.length, 1);
  sheet.value = { w_q: [1, 5], w_k: [3, 4] };
  assert.equal(seen.length, 2);
  assert.equal(seen[1], seen[0]);
  stop();
});
