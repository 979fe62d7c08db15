import assert from "node:assert/strict";
import { test } from "node:test";
import { hasCell, valueAt } from "../src/engine/cells";
import { originOf, type Origin } from "../src/engine/origin";
import { NotHere } from "../src/engine/path";
import type { Cell, Stage } from "../src/engine/record";
import { edited, layersOf } from "../src/engine/sheet";
import { originErrors, retold } from "./origin_sums";
import { deep, drawn, layerOf, random, rich, sheetOf, small } from "./sheet_cases";

function cell(stage: Stage, row: number, column: number, more: Partial<Cell> = {}): Cell {
  return { layer: 0, stage, head: 0, row, column, ...more };
}

function told<Kind extends Origin["kind"]>(origin: Origin, kind: Kind): Extract<Origin, { kind: Kind }> {
  assert.equal(origin.kind, kind);
  return origin as Extract<Origin, { kind: Kind }>;
}

/** More tokens and dimensions than are told one by one. */
function wide(parts: object = {}) {
  const draw = random(9);
  const words = Array.from({ length: 14 }, (_, at) => `t${at}`);
  const w = { w_q: drawn(14, 14, draw), w_k: drawn(14, 14, draw), w_v: drawn(14, 14, draw) };
  return layersOf(sheetOf(words, null, drawn(14, 14, draw), [layerOf({ ...w, ...parts })]));
}

test("what is told of every cell of every stage adds up to it", () => {
  for (const sheet of [small(), deep(), rich(1), rich(2), rich(3)]) assert.deepEqual(originErrors(layersOf(sheet)), []);
  for (const parts of [{}, { allowed: { kind: "causal", offset: 0 }, sink: Float64Array.of(0.3) }]) {
    assert.deepEqual(originErrors(wide(parts)), []);
  }
});

test("q is told in the names of the embedding, with the cells it comes from", () => {
  const layers = layersOf(small());
  const origin = told(originOf(layers, cell("q", 3, 0)), "projected");
  assert.deepEqual(
    origin.terms.map(({ name, a, b }) => [name, a, b]),
    [
      ["Word", 0.5, 0],
      ["Animal", 0, 1],
      ["Action", 0.5, 0],
    ],
  );
  assert.deepEqual(origin.terms[1].from, [cell("x", 3, 1), cell("w_q", 1, 0)]);
});

test("many terms: the largest are told, the rest in sum", () => {
  const origin = told(originOf(wide(), cell("scores", 2, 5)), "dot");
  assert.equal(origin.terms.length, 8);
  assert.equal(origin.rest?.n, 6);
  const least = Math.min(...origin.terms.map(({ a, b }) => Math.abs(a * b)));
  const left = Array.from({ length: 14 }, (_, at) => at).filter((at) => !origin.terms.some(({ name }) => name === at));
  const products = left.map((at) => valueAt(wide(), cell("q", 2, at)) * valueAt(wide(), cell("k", 5, at)));
  assert.ok(products.every((product) => Math.abs(product) <= least));
  assert.equal(origin.from.length, 28);
});

test("many keys: the one that is asked about is always told", () => {
  const layers = wide();
  for (let key = 0; key < 14; key++) {
    const origin = told(originOf(layers, cell("weights", 4, key)), "softmax");
    assert.equal(origin.shares.length, 8);
    assert.ok(origin.shares.some((share) => share.key === key));
    assert.equal(origin.rest?.n, 6);
  }
});

test("the scale is told as it came about", () => {
  const kinds = (sheet = small()) => {
    return told(originOf(layersOf(sheet), cell("scaled", 0, 1)), "scaled").steps.map(({ kind, by }) => [kind, by]);
  };
  assert.deepEqual(kinds(), [["root", 3]]);
  assert.deepEqual(kinds(edited(small(), { set: "temperature", layer: 0, value: 2 })), [
    ["root", 3],
    ["temperature", 2],
  ]);
  assert.deepEqual(kinds(edited(small(), { set: "scale", layer: 0, value: 0.3 })), [["scale", 0.3]]);
  const bias = { kind: "alibi", slopes: Float64Array.of(0.5), offset: 0 } as const;
  assert.deepEqual(kinds(small({ softcap: 3, bias })), [
    ["root", 3],
    ["softcap", 3],
    ["bias", -0.5],
  ]);
});

test("the mask says which part of the rule decides", () => {
  const allowed = {
    kind: "both",
    first: { kind: "causal", offset: 0 },
    second: { kind: "window", n_back: 1, n_ahead: 0, offset: 0 },
  } as const;
  const origin = told(originOf(layersOf(small({ allowed })), cell("allowed", 3, 1)), "allowed");
  assert.deepEqual(origin.saying, {
    kind: "both",
    allows: false,
    parts: [
      { kind: "causal", allows: true, query: 3, key: 1 },
      { kind: "window", allows: false, back: 2, n_back: 1, n_ahead: 0 },
    ],
  });
  const hidden = told(originOf(layersOf(small({ allowed })), cell("weights", 3, 1)), "hidden");
  assert.deepEqual(hidden.from, [cell("allowed", 3, 1)]);
  assert.equal(told(originOf(layersOf(small({ allowed })), cell("weights", 3, 2)), "softmax").n_hidden, 2);
});

test("the top is the largest of what is there, also where all is below 0", () => {
  const array = { heads: 1, rows: 4, width: 4, values: new Float64Array(16).fill(-9) };
  const layers = layersOf(small({ bias: { kind: "bias_table", array } }));
  const origin = told(originOf(layers, cell("weights", 3, 0)), "softmax");
  assert.equal(origin.top, Math.max(...origin.shares.map((share) => share.scaled)));
  assert.ok(origin.top < 0);
});

test("a sink takes its share", () => {
  const origin = told(originOf(layersOf(small({ sink: Float64Array.of(1) })), cell("weights", 0, 0)), "softmax");
  assert.equal(origin.sink?.logit, 1);
  const total = origin.shares.reduce((sum, { exp }) => sum + exp, origin.sink?.exp ?? 0);
  assert.ok(Math.abs(origin.total - total) < 1e-12);
});

test("the x of a later layer is what the layer before hands on", () => {
  const layers = layersOf(deep());
  const origin = told(originOf(layers, cell("x", 1, 2, { layer: 1 })), "chained");
  assert.deepEqual(origin.from, [cell("output", 1, 2), cell("x", 1, 2)]);
  assert.equal(origin.output + (origin.residual ?? 0), origin.value);
  told(originOf(layers, cell("x", 1, 2)), "given");
});

test("an output cell says which head it is of, or what w_o makes it from", () => {
  const parts = {
    n_heads: 2,
    n_kv_heads: 2,
    w_q: drawn(3, 4, random(1)),
    w_k: drawn(3, 4, random(2)),
    w_v: drawn(3, 4, random(3)),
  };
  const joined = told(originOf(layersOf(small(parts)), cell("output", 1, 3)), "joined");
  assert.deepEqual([joined.head, joined.column], [1, 1]);
  const projected = told(originOf(layersOf(rich(1)), cell("output", 1, 3)), "projected");
  assert.equal(projected.terms.length, 12);
  assert.deepEqual(projected.terms[11].from, [cell("mixed", 1, 2, { head: 3 }), cell("w_o", 11, 3)]);
  assert.notEqual(projected.bias, null);
});

test("every chain of origins ends in what was given", () => {
  const layers = layersOf(rich(2));
  let cells: Cell[] = [cell("output", 4, 0, { layer: 1 })];
  const seen = new Set<string>();
  for (let depth = 0; cells.length && depth < 20; depth++) {
    const origins = cells.map((one) => originOf(layers, one));
    for (const origin of origins) assert.ok(Math.abs(retold(origin) - origin.value) < 1e-12);
    cells = origins
      .flatMap((origin) => origin.from)
      .filter((one) => !seen.has(JSON.stringify(one)) && seen.add(JSON.stringify(one)));
  }
  assert.deepEqual(cells, []);
  assert.ok(seen.has(JSON.stringify(cell("x", 1, 0))));
});

test("there is no origin of what is not there", () => {
  const layers = layersOf(small());
  for (const wrong of [
    cell("x", 4, 0),
    cell("x", 0, 3),
    cell("q", 0, 0, { head: 1 }),
    cell("scores", 0, 0, { head: 1 }),
    cell("w_o", 0, 0),
    cell("x", 0, 0, { layer: 1 }),
  ]) {
    assert.throws(() => originOf(layers, wrong), NotHere);
    assert.equal(hasCell(layers, wrong), false);
  }
  assert.throws(() => originOf(layers, cell("weighted_values", 0, 0)), NotHere);
  assert.throws(() => originOf([{ ...layers[0], v: null }], cell("mixed", 0, 0)), NotHere);
});

test("q, k and v that were made in another way are not told as x · W", () => {
  const [layer] = layersOf(small());
  const other = { ...layer, q: { ...layer.q, values: layer.q.values.map((value) => value * 1.01) } };
  told(originOf([other], cell("q", 0, 1)), "given");
  told(originOf([other], cell("k", 0, 0)), "projected");
  const single = {
    ...layer,
    q: { ...layer.q, values: Float32Array.from(layer.q.values, (value) => value * (1 + 1e-6)) },
  };
  told(originOf([single], cell("q", 0, 1)), "projected");
});

test("where the sums of rows travelled, what is told is still the whole sum", () => {
  const [layer] = layersOf(small());
  const lse = Float32Array.from([0, 1, 2, 3], (query) =>
    Math.log(told(originOf([layer], cell("weights", query, 0)), "softmax").total),
  );
  const tops = [0, 1, 2, 3].map((query) => told(originOf([layer], cell("weights", query, 0)), "softmax").top);
  const travelled = { ...layer, lse: lse.map((value, query) => value + tops[query]) };
  const origin = told(originOf([travelled], cell("weights", 3, 0)), "softmax");
  assert.equal(origin.top, Math.max(...origin.shares.map((share) => share.scaled)));
  assert.ok(Math.abs(origin.exp / origin.total - origin.value) < 1e-6);
});
