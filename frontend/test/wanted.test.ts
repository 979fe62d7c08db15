import assert from "node:assert/strict";
import { test } from "node:test";
import { packed, unpacked } from "../src/engine/address";
import type { Layer } from "../src/engine/record";
import { edited, layersOf, Refused, sheetOf, type Edit, type Reason, type Sheet } from "../src/engine/sheet";
import {
  besideReached, completed, tableFor, withinMask, withoutWeight, withWeight, type Beside, type WantedRow,
} from "../src/engine/wanted";
import { lostIn, toYaml } from "../src/engine/yaml";
import { deep, identity, layerOf, sheetOf as sheetFrom, sourceOf, tableOf } from "./sheet_cases";

const ALL = Uint8Array.of(1, 1, 1);

function refused(reason: Reason, make: () => unknown): Refused["data"] {
  let data: Refused["data"] = {};
  assert.throws(make, (error: unknown) => {
    if (error instanceof Refused) data = error.data;
    return error instanceof Refused && error.reason === reason;
  });
  return data;
}

function near(a: ArrayLike<number>, b: ArrayLike<number>): void {
  assert.equal(a.length, b.length);
  const [one, other] = [Array.from(a), Array.from(b)];
  assert.ok(one.every((value, at) => Math.abs(value - other[at]) < 1e-9), `${one} / ${other}`);
}

/** Three tokens, of which the first is 0; the second wants .8 of itself. */
function wishing(wanted: unknown = [{ 1: { 1: 0.8 } }]): Sheet {
  const x = tableOf([[0, 0], [1, 0], [0, 1]]);
  const layer = layerOf({ w_q: identity(2), w_k: identity(2), w_v: identity(2), source: sourceOf({ wanted }) });
  const made = layersOf(sheetFrom(["a", "b", "a"], ["P", "Q"], x, [layer]));
  return sheetOf(made.map((one): Layer => ({ ...one, source: layer.source })))!;
}

// a row --------------------------------------------------------------------------------------------

test("keys left out share what remains, and a masked key gets nothing", () => {
  near(completed({ 1: 0.8 }, ALL) as Float64Array, [0.1, 0.8, 0.1]);
  near(completed({ 1: 0.8 }, Uint8Array.of(0, 1, 1)) as Float64Array, [0, 0.8, 0.2]);
  near(completed({ 0: 0.5, 1: 0.25 }, Uint8Array.of(0, 1, 1)) as Float64Array, [0, 0.5, 0.5]);
});

test("a row that cannot sum to 1 says why", () => {
  assert.deepEqual(completed({ 0: 0.5, 1: 0.2, 2: 0.2 }, ALL), { kind: "sum", total: 0.9, isWhole: true });
  assert.deepEqual(completed({ 0: 0.9, 1: 0.3 }, ALL), { kind: "sum", total: 1.2, isWhole: false });
  assert.deepEqual(completed({ 0: 1 }, Uint8Array.of(0, 0, 0)), { kind: "nothing_allowed", total: 1, isWhole: true });
  assert.deepEqual(completed({ 0: 1 }, Uint8Array.of(0, 1, 1)), { kind: "all_forbidden", total: 1, isWhole: false });
});

test("a weight leaves the set keys alone where others are free, and beyond 1 is refused with what is left", () => {
  assert.deepEqual(withWeight({ 0: 0.5 }, ALL, 1, 0.25), { 0: 0.5, 1: 0.25 });
  assert.deepEqual(refused("wanted_sum", () => withWeight({ 0: 0.75 }, ALL, 1, 0.5)), { taken: 0.75, most: 0.25 });
  for (const value of [-0.1, 1.5]) refused("wanted_range", () => withWeight({}, ALL, 1, value));
});

test("where no key is free the others keep their ratios", () => {
  const row = withWeight({ 0: 0.2, 1: 0.2, 2: 0.6 }, ALL, 1, 0.6);
  near(Object.values(row), [0.1, 0.6, 0.3]);
  assert.deepEqual(withWeight({ 0: 0.2, 1: 0.2, 2: 0.6 }, ALL, 2, 1), { 0: 0, 1: 0, 2: 1 });
  assert.deepEqual(refused("wanted_rest", () => withWeight({ 0: 0, 1: 0, 2: 1 }, ALL, 2, 0.75)), { rest: 0.25 });
  assert.deepEqual(withWeight({ 1: 0.5 }, Uint8Array.of(0, 1, 1), 2, 0.75), { 1: 0.25, 2: 0.75 });
});

test("a wish for what the mask hides is dropped, and the others are what they count for", () => {
  const row = { 0: 0.5, 1: 0.25 };
  assert.equal(withinMask(row, ALL, null), row);
  assert.deepEqual(withinMask(row, Uint8Array.of(0, 1, 1), Float64Array.of(0, 0.5, 0.5)), { 1: 0.5 });
  assert.deepEqual(withinMask(row, Uint8Array.of(0, 1, 0), null), { 1: 0.25 });
});

test("a key is set free again, and the last one frees the row", () => {
  assert.deepEqual(withoutWeight({ 0: 0.2, 1: 0.8 }, 1), { 0: 0.2 });
  assert.equal(withoutWeight({ 1: 0.8 }, 1), null);
});

// a sheet ------------------------------------------------------------------------------------------

const want = (row: WantedRow | null, query = 1): Edit => ({ set: "wanted", head: 0, query, row });

test("what a record wants is read, and what is no wish is none", () => {
  assert.deepEqual(wishing().wanted, [{ 1: { 1: 0.8 } }]);
  const negative = [{ 0: { 0: -1 } }];
  for (const damaged of [5, [5], [{ 9: { 0: 1 } }], [{ 0: { 0: "x" } }], negative, [{}, {}], [{ x: 2 }]]) {
    assert.deepEqual(wishing(damaged).wanted, [], JSON.stringify(damaged));
  }
});

test("another wish changes no number of the record but what is wanted", () => {
  const before = wishing();
  const after = edited(before, want({ 0: 0.5 }));
  assert.deepEqual(before.wanted, [{ 1: { 1: 0.8 } }]);
  assert.deepEqual(after.wanted, [{ 1: { 0: 0.5 } }]);
  assert.deepEqual(layersOf(after)[0].q, layersOf(before)[0].q);
  assert.deepEqual(layersOf(after)[0].source.details.wanted, after.wanted);
  assert.deepEqual(edited(after, want(null)).wanted, []);
  assert.equal(layersOf(edited(after, want(null)))[0].source.details.wanted, undefined);
  refused("no_such_place", () => edited(before, want({ 0: 0.5 }, 3)));
});

test("one table for several heads becomes one a head where they differ", () => {
  const two = { ...deep(), wanted: [{ 0: { 1: 0.5 } }] };
  const layers = two.layers.map((layer) => ({ ...layer, n_heads: 3, n_kv_heads: 3 }));
  const after = edited({ ...two, layers }, { set: "wanted", head: 1, query: 2, row: { 0: 1 } });
  assert.deepEqual(after.wanted, [{ 0: { 1: 0.5 } }, { 0: { 1: 0.5 }, 2: { 0: 1 } }, { 0: { 1: 0.5 } }]);
  assert.deepEqual(tableFor(two.wanted, 2), { 0: { 1: 0.5 } });
});

test("wishes go where their tokens go", () => {
  const whole = edited(wishing(), want({ 0: 0.2, 1: 0.2, 2: 0.6 }));
  assert.deepEqual(edited(whole, { move: "token", from: 1, to: 0 }).wanted, [{ 0: { 0: 0.2, 1: 0.2, 2: 0.6 } }]);
  assert.deepEqual(edited(whole, { add: "token", at: 0, text: "new" }).wanted, [{ 2: { 1: 0.2, 2: 0.2, 3: 0.6 } }]);
  assert.deepEqual(edited(whole, { remove: "token", at: 2 }).wanted, [{ 1: { 0: 0.5, 1: 0.5 } }]);
  assert.deepEqual(edited(whole, { remove: "token", at: 1 }).wanted, []);
  assert.deepEqual(edited(wishing(), { remove: "token", at: 0 }).wanted, [{ 0: { 0: 0.8 } }]);
});

test("a design is one edit of both matrices, and must have their size", () => {
  const after = edited(wishing(), { set: "design", layer: 0, w_q: tableOf([[3, 0], [0, 1]]), w_k: identity(2) });
  assert.deepEqual([...layersOf(after)[0].heads!.w_q.values], [3, 0, 0, 1]);
  refused("no_such_place", () => edited(wishing(), { set: "design", layer: 0, w_q: identity(3), w_k: identity(2) }));
  const damaged = tableOf([[NaN, 0], [0, 1]]);
  refused("not_finite", () => edited(wishing(), { set: "design", layer: 0, w_q: damaged, w_k: identity(2) }));
});

test("wanted beside reached", () => {
  const sheet = wishing();
  const beside = besideReached(layersOf(sheet)[0], sheet.wanted, 0, 1) as Beside;
  near(beside.wanted, [0.1, 0.8, 0.1]);
  const term = (wanted: number, key: number): number => wanted * Math.log(wanted / beside.reached[key]);
  const kl = beside.wanted.map(term).reduce((sum, one) => sum + one, 0);
  assert.ok(Math.abs(beside.divergence - kl) < 1e-12 && kl > 0.1);
  assert.equal(beside.most.key, 1);
  assert.equal(besideReached(layersOf(sheet)[0], sheet.wanted, 0, 0), null);
});

// files and addresses ------------------------------------------------------------------------------

test("a link and a file carry what is wanted", () => {
  const original = wishing();
  for (const row of [{ 0: 0.5, 2: 0.125 }, null]) {
    const sheet = edited(original, want(row));
    assert.deepEqual(unpacked(packed(sheet, original)!, original).wanted, sheet.wanted);
  }
  assert.equal(packed(edited(original, want({ 1: 0.8 })), original), null);
  assert.match(toYaml(edited(original, want({ 0: 0.5, 2: 0.125 }))), /^wanted: \{b: \{"a#1": 0.5, "a#2": 0.125\}\}$/m);
});

test("a link with a wish that does not fit is damaged", () => {
  const original = wishing();
  const sheet = { ...original, wanted: [{ 7: { 0: 1 } }] };
  refused("no_such_place", () => unpacked(packed(sheet, original)!, original));
});

test("a wish for a token that no file can name is said to be lost", () => {
  const named = [{ rename: "token", at: 1, text: "a#1" } as const, want({ 0: 0.5 })].reduce(edited, wishing());
  assert.ok(lostIn(named).some(({ what }) => what === "wanted"));
  assert.match(toYaml(named), /# Not in this file, which has no word for it: layer 0, wanted/);
});
