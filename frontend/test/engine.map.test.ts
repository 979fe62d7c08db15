/** The map against brute force on small records; on long ones what must be seen, what is held, how long it takes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsOf, exact, sampled, topOf, type Image, type Window } from "../src/engine/map";
import { lseAt, stageOf, weightAt } from "../src/engine/path";
import type { Allowed, Layer, PerHead, Rule } from "../src/engine/record";

const CAUSAL: Allowed = { kind: "causal", offset: 0 };

/** Numbers from −1 to 1, the same in every run. */
function drawn(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

function perHead(heads: number, rows: number, width: number, next: () => number): PerHead {
  return { heads, rows, width, values: Float32Array.from({ length: heads * rows * width }, () => 3 * next()) };
}

function layerOf(n: number, rule: Partial<Rule> = {}, { m = n, width = 6, heads = 2, kv = 1 } = {}): Layer {
  const next = drawn(n + m);
  const token = { text: "", span: null, label: { text: "", part: 1, parts: 1, raw: null, special: false } };
  return {
    tokens: new Array(n).fill(token),
    keyTokens: m === n ? null : new Array(m).fill(token),
    q: perHead(heads, n, width, next),
    k: perHead(kv, m, width, next),
    v: null,
    rule: { scale: null, allowed: CAUSAL, softcap: null, bias: null, sink: null, ...rule },
    x: null,
    heads: null,
    dimensions: null,
    source: {
      kind: "arrays", name: null, layer: null, exact: true, backend: "numpy",
      shared_heads: null, special_tokens: null, details: {},
    },
    lse: null,
    exact: true,
  };
}

/** The same layer with its sums beside it, as a page brings it. */
function withSums(layer: Layer): Layer {
  const { heads, rows } = layer.q;
  const sum = (at: number) => Math.max(-1e30, lseAt(layer, Math.floor(at / rows), at % rows));
  return { ...layer, lse: Float32Array.from({ length: heads * rows }, (_, at) => sum(at)) };
}

const TABLE = Uint8Array.from({ length: 40 * 40 }, (_, at) => Number(at % 7 === 0 && Math.floor(at / 40) !== 20));
const PADDING: Allowed = {
  kind: "padding",
  keys: Uint8Array.from({ length: 40 }, (_, key) => Number(key > 2 && key % 5 !== 0)),
};
const NEAR: Allowed = { kind: "window", n_back: 1, n_ahead: 0, offset: 0 };
const LAYERS: Readonly<Record<string, Layer>> = {
  causal: layerOf(40),
  "causal, after a cache": layerOf(20, { allowed: { kind: "causal", offset: 20 } }, { m: 40 }),
  everything: layerOf(40, { allowed: { kind: "everything" } }),
  window: layerOf(40, { allowed: { kind: "window", n_back: 5, n_ahead: 2, offset: 0 } }),
  "window that ends": layerOf(40, { allowed: { kind: "window", n_back: 3, n_ahead: 0, offset: 4 } }, { m: 20 }),
  table: layerOf(40, { allowed: { kind: "table", columns: 40, cells: TABLE } }),
  "causal and padding": layerOf(40, { allowed: { kind: "both", first: CAUSAL, second: PADDING } }),
  either: layerOf(40, { allowed: { kind: "either", first: NEAR, second: PADDING } }),
  "sinks and a bias": layerOf(40, {
    softcap: 2,
    sink: Float64Array.of(0.5, -1),
    bias: { kind: "alibi", slopes: Float64Array.of(0.1, 0.3), offset: 0 },
  }),
};

const WINDOWS: readonly Window[] = [
  { row: 0, rows: 40, column: 0, columns: 40 },
  { row: 3.4, rows: 20.2, column: 10.9, columns: 12 },
  { row: 30, rows: 100, column: -5, columns: 20 },
  { row: 7, rows: 0.5, column: 2, columns: 0.1 },
];

/** Every cell of the window put into its pixel, the largest one kept. */
function pooled(layer: Layer, head: number, window: Window, width: number, height: number): Float32Array {
  const { row, rows, column, columns } = cellsOf(layer, window);
  const [w, h] = [Math.min(width, columns), Math.min(height, rows)];
  const weights = stageOf(layer, "weights", head);
  const allowed = stageOf(layer, "allowed", head);
  const image = new Float32Array(w * h).fill(-1);
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      for (let i = Math.floor((y * rows) / h); i < Math.floor(((y + 1) * rows) / h); i++) {
        for (let j = Math.floor((x * columns) / w); j < Math.floor(((x + 1) * columns) / w); j++) {
          const at = (row + i) * weights.columns + column + j;
          if (allowed.values[at]) image[y * w + x] = Math.max(image[y * w + x], weights.values[at]);
        }
      }
    }
  }
  return image;
}

function last(images: Iterable<Image>): Image {
  const all = [...images];
  assert.deepEqual(all.map((image) => image.exact), [...all.slice(1).map(() => false), true]);
  return all[all.length - 1];
}

function same(image: Image, wanted: Float32Array, what: string): void {
  assert.equal(image.values.length, wanted.length, what);
  assert.equal(image.width * image.height, wanted.length, what);
  for (let at = 0; at < wanted.length; at++) {
    const far = Math.abs(image.values[at] - wanted[at]);
    assert.ok(far < 2e-6, `${what}: ${image.values[at]} for ${wanted[at]} at ${at}`);
    assert.equal(image.values[at] === -1, wanted[at] === -1, what);
  }
}

for (const [name, layer] of Object.entries(LAYERS)) {
  test(`the exact image is the largest of all cells under each pixel: ${name}`, () => {
    for (const window of WINDOWS) {
      for (const [width, height] of [[1, 1], [7, 9], [13, 40], [512, 512]]) {
        const wanted = pooled(layer, 1, window, width, height);
        for (const one of [{ ...layer }, withSums(layer)]) {
          const fast = sampled(one, 1, window, width, height);
          const before = fast.values.slice();
          same(last(exact(one, 1, window, width, height)), wanted, "from nothing");
          same(last(exact(one, 1, window, width, height, fast)), wanted, "from the sampled image");
          const other = sampled(one, 1, { row: 0, rows: 2, column: 0, columns: 3 }, 512, 512);
          same(last(exact(one, 1, window, width, height, other)), wanted, "from an image that does not fit");
          assert.deepEqual(fast.values, before);
          assert.ok(before.every((weight, at) => weight <= wanted[at] + 2e-6));
          if (fast.exact) same(fast, wanted, "sampled, as many pixels as cells");
          const { rows, columns } = cellsOf(one, window);
          assert.equal(fast.exact, rows <= height && columns <= width);
        }
      }
    }
  });
}

test("a window lies within the record and covers whole cells", () => {
  assert.deepEqual(cellsOf(LAYERS.causal, WINDOWS[1]), { row: 3, rows: 21, column: 10, columns: 13 });
  assert.deepEqual(cellsOf(LAYERS.causal, WINDOWS[2]), { row: 30, rows: 10, column: 0, columns: 15 });
  assert.deepEqual(cellsOf(LAYERS.causal, { row: 90, rows: 2, column: 40, columns: 5 }), {
    row: 39, rows: 1, column: 39, columns: 1,
  });
});

/** One-hot queries and keys: query i reads the key that `reads` says, with nearly all of its weight. */
function sharp(n: number, allowed: Allowed, reads: (query: number) => number): Layer {
  const layer = layerOf(n, { allowed, scale: 30 }, { width: 64, heads: 1 });
  const next = drawn(n);
  const keys = layer.k.values.map(() => Math.sign(next()));
  const queries = keys.map((_, at) => keys[reads(Math.floor(at / 64)) * 64 + (at % 64)]);
  return { ...layer, q: { ...layer.q, values: queries }, k: { ...layer.k, values: keys } };
}

test("the sampled image keeps the diagonal, the keys beside it and the first key", () => {
  const windows = [
    { row: 0, rows: 1000, column: 0, columns: 1000 },
    { row: 301, rows: 690, column: 0, columns: 993 },
  ];
  const all: Allowed = { kind: "everything" };
  const heads: Readonly<Record<string, [Allowed, (query: number) => number]>> = {
    itself: [CAUSAL, (query) => query],
    before: [CAUSAL, (query) => Math.max(0, query - 1)],
    first: [CAUSAL, () => 0],
    "itself, after a cache": [{ kind: "causal", offset: 2 }, (query) => Math.min(999, query + 2)],
    "itself, among all": [all, (query) => query],
    after: [all, (query) => Math.min(999, query + 1)],
  };
  for (const [name, [allowed, reads]] of Object.entries(heads)) {
    const layer = withSums(sharp(1000, allowed, reads));
    for (const window of windows) {
      for (const size of [[90, 70], [100, 100]]) {
        const { width, height, values } = sampled(layer, 0, window, size[0], size[1]);
        for (let y = 0; y < height; y++) {
          const brightest = Math.max(...values.subarray(y * width, (y + 1) * width));
          assert.ok(brightest > 0.99, `${name}: row ${y} of pixels shows ${brightest}`);
        }
      }
    }
  }
});

test("the heaviest keys come first, equal ones in order, and the rest is summed", () => {
  for (const layer of [...Object.values(LAYERS), withSums(LAYERS.table)]) {
    for (const query of [0, 1, 19, layer.q.rows - 1]) {
      const all = Array.from({ length: layer.k.rows }, (_, key) => ({ key, weight: weightAt(layer, 1, query, key) }));
      const read = all.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
      const { heaviest, rest } = topOf(layer, 1, query, 5);
      assert.deepEqual(heaviest, read.slice(0, 5));
      const left = read.slice(5).reduce((sum, { weight }) => sum + weight, 0);
      assert.ok(Math.abs(rest - left) < 1e-12);
    }
  }
  const equal = topOf({ ...LAYERS.everything, rule: { ...LAYERS.everything.rule, scale: 1e-30 } }, 0, 9, 3);
  assert.deepEqual(equal.heaviest.map(({ key }) => key), [0, 1, 2]);
});

test("4,096 tokens: in slices, without a table of all cells", (t) => {
  const n = 4096;
  const window = { row: 0, rows: n, column: 0, columns: n };
  const bare = layerOf(n, {}, { width: 64, heads: 1 });
  for (const layer of [withSums(bare), { ...bare }]) {
    const held = () => process.memoryUsage().arrayBuffers;
    const [before, began] = [held(), performance.now()];
    const fast = sampled(layer, 0, window, 512, 512);
    const sampledMs = performance.now() - began;
    let [largest, longest, slices, from] = [0, 0, 0, performance.now()];
    for (const image of exact(layer, 0, window, 512, 512, fast)) {
      longest = Math.max(longest, performance.now() - from);
      largest = Math.max(largest, held() - before);
      slices++;
      assert.equal(image.width, 512);
      from = performance.now();
    }
    const allMs = performance.now() - began;
    const told = [sampledMs, longest, allMs].map((ms) => `${ms.toFixed(0)} ms`);
    const sums = layer.lse ? "sums here" : "no sums";
    t.diagnostic(`${sums}: sampled ${told[0]}, longest slice ${told[1]}, all ${told[2]}`);
    assert.ok(slices > 20, `${slices} slices`);
    assert.ok(largest < n * n, `${largest} bytes were held`);
  }
});
