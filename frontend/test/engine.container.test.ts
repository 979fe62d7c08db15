/** Documents that are not whole, or of another kind, are refused with one clear error; what is brought is kept. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Damaged, openDocument } from "../src/engine/container";
import { lseAt, NotHere, outputRowOf, rowOf, stageOf, TooLarge, weightAt } from "../src/engine/path";
import type { Document, Layer } from "../src/engine/record";

type Arrays = Readonly<Record<string, { dtype: string; shape: readonly number[]; numbers: ArrayBufferView }>>;

const never = () => Promise.reject(new Error("all bytes are here"));

function floats(shape: readonly number[], ...numbers: number[]) {
  return { dtype: "F64", shape, numbers: Float64Array.from(numbers) };
}

const ONE: Arrays = {
  "layers.0.q": floats([1, 2, 1], 1, 2),
  "layers.0.k": floats([1, 2, 1], 1, -1),
  "layers.0.v": floats([1, 2, 1], 10, 20),
};
const RECORD = {
  kind: "trace",
  tokens: [[["a"], ["b", 2, 3]]],
  layers: [{ tokens: 0, rule: { kind: "rule", allowed: { kind: "everything" } }, source: { kind: "arrays" } }],
};

/** A file as `trace.save` writes it, taken apart. */
function file(arrays: Arrays = ONE, record: object = RECORD, more: object = {}): [string, DataView] {
  let end = 0;
  const header: Record<string, object> = {
    __metadata__: { format: "jumok", version: "1", record: JSON.stringify(record), ...more },
  };
  for (const [name, { dtype, shape, numbers }] of Object.entries(arrays)) {
    header[name] = { dtype, shape, data_offsets: [end, (end += numbers.byteLength)] };
  }
  const bytes = new Uint8Array(end);
  let at = 0;
  for (const { numbers } of Object.values(arrays)) {
    bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), at);
    at += numbers.byteLength;
  }
  return [JSON.stringify(header), new DataView(bytes.buffer)];
}

function open(...parts: Parameters<typeof file>): Document {
  const [header, bytes] = file(...parts);
  return openDocument(header, bytes, never);
}

function ruled(rule: object): object {
  return { ...RECORD, layers: [{ ...RECORD.layers[0], rule: { kind: "rule", ...rule } }] };
}

test("a document without a page says what its shapes say", () => {
  const document = open();
  assert.equal(document.kind, "trace");
  assert.equal(document.storage, "exact");
  assert.deepEqual([document.title, document.atlas], [null, null]);
  const { entropy, ...sizes } = document.facts[0];
  assert.deepEqual(entropy, [NaN]);
  assert.deepEqual([sizes.n_heads, sizes.n_queries, sizes.n_keys, sizes.d_head, sizes.values], [1, 2, 2, 1, true]);
  const [a, b] = document.tokens(0);
  assert.deepEqual(a, { text: "a", span: null, label: { text: "a", part: 1, parts: 1, raw: null, special: false } });
  assert.deepEqual(b.span, [2, 3]);
  assert.equal(document.source.backend, "numpy");
});

test("a captured token is called by its label, one that a person wrote as it is written", () => {
  const labels = [["␣a", "␣"].map((text) => ({ text, part: 1, parts: 1, raw: null, special: false }))];
  const page = JSON.stringify({ storage: "exact", layers: [{ n_heads: 1 }], atlas: null, labels, title: null });
  const texts = (kind: string) => open(ONE, { ...RECORD, source: { kind } }, { page }).tokens(0).map(({ text }) => text);
  assert.deepEqual(texts("model"), ["a", "␣"]);
  assert.deepEqual(texts("arrays"), ["a", "b"]);
});

test("a page says how tokens are shown, and more", () => {
  const label = { text: "가", part: 1, parts: 2, raw: "ea b0", special: false };
  const labels = [[label, label]];
  const page = { storage: "int16", layers: [{ n_heads: 1 }], atlas: null, labels, title: { en: "t" } };
  const document = open(ONE, RECORD, { page: JSON.stringify(page) });
  assert.deepEqual(document.tokens(0)[1].label, label);
  assert.deepEqual(document.title, { en: "t" });
  assert.equal(document.storage, "int16");
  assert.ok((document.layer(0) as Layer).exact, "a layer that was not rounded travels as it is");
});

test("of rounded numbers the layer knows that they are; without values it has weights only", () => {
  const whole = (...numbers: number[]) => ({ dtype: "I16", shape: [1, 2, 1], numbers: Int16Array.from(numbers) });
  const scale = { dtype: "F32", shape: [1, 2], numbers: Float32Array.of(0.5, 0.25) };
  const arrays = {
    "layers.0.q": whole(2, 8),
    "layers.0.q.scale": scale,
    "layers.0.k": whole(2, -4),
    "layers.0.k.scale": scale,
    "layers.0.lse": { dtype: "F32", shape: [1, 2], numbers: Float32Array.of(-1e30, 3) },
  };
  const page = JSON.stringify({ storage: "int16", layers: [{ values: false }] });
  const layer = open(arrays, RECORD, { page }).layer(0) as Layer;
  assert.equal(layer.exact, false);
  assert.deepEqual([...layer.q.values, ...layer.k.values], [1, 2, 1, -1]);
  assert.equal(lseAt(layer, 0, 0), -Infinity);
  assert.equal(weightAt(layer, 0, 1, 0), Math.exp(2 - 3));
  assert.equal(layer.v, null);
  assert.equal(rowOf(layer, 0, 1).mixed, null);
  assert.equal(outputRowOf(layer, 0), null);
  for (const stage of ["v", "mixed", "output", "weighted_values", "x", "w_q", "w_o"] as const) {
    assert.throws(() => stageOf(layer, stage, 0), NotHere);
  }
});

test("a layer is brought once, and again where it did not come", async () => {
  const [header, bytes] = file();
  let asked = 0;
  const document = openDocument(header, null, async () => {
    if (++asked === 1) throw new Error("the line was cut");
    return bytes;
  });
  await assert.rejects(async () => document.layer(0), /cut/);
  const [first, second] = await Promise.all([document.layer(0), document.layer(0)]);
  assert.equal(first, second);
  assert.equal(document.layer(0), first);
  assert.equal(asked, 2);
});

test("a whole table that is too large is refused, a row of it is not", () => {
  const n = 1001;
  const long = { dtype: "F32", shape: [1, n, 1], numbers: new Float32Array(n) };
  const arrays = { "layers.0.q": long, "layers.0.k": long, "layers.0.v": long };
  const layer = open(arrays, { ...RECORD, tokens: [new Array(n).fill(["a"])] }).layer(0) as Layer;
  assert.throws(() => stageOf(layer, "weights", 0), TooLarge);
  assert.equal(rowOf(layer, 0, 5).weights.length, n);
  assert.equal(stageOf(layer, "output", 0).rows, n);
});

const [HEADER, BYTES] = file();
const DAMAGED: Readonly<Record<string, () => Document>> = {
  "no JSON": () => openDocument(HEADER.slice(0, 40), BYTES, never),
  "not an object": () => openDocument("null", BYTES, never),
  "another program's": () => open(ONE, RECORD, { format: "pt" }),
  "a later version": () => open(ONE, RECORD, { version: "2" }),
  "a record that is no JSON": () => open(ONE, RECORD, { record: "{" }),
  "a record of nothing": () => open(ONE, {}),
  "a page that is no JSON": () => open(ONE, RECORD, { page: "{" }),
  "another kind": () => open(ONE, { ...RECORD, kind: "history" }),
  "an array of no layer": () => open({ ...ONE, "layers.7.q": ONE["layers.0.q"] }),
  "no keys": () => open({ "layers.0.q": ONE["layers.0.q"], "layers.0.v": ONE["layers.0.v"] }),
  "bytes cut off": () => openDocument(HEADER, new DataView(BYTES.buffer, 0, 40), never),
  "bytes beyond the shape": () => openDocument(HEADER.replace("[1,2,1]", "[1,2,2]"), BYTES, never),
  "numbers of another kind": () => openDocument(HEADER.replace("F64", "I64"), BYTES, never),
  "numbers unknown": () => openDocument(HEADER.replace("F64", "F8_E5M2"), BYTES, never),
  "axes missing": () => openDocument(HEADER.replace("[1,2,1]", "[2]"), BYTES, never),
  "more bytes than its shape": () => open({ ...ONE, "layers.0.x": floats([2, 1], 1, 2, 3) }),
  "more queries than tokens": () => open({ ...ONE, "layers.0.q": floats([1, 3, 1], 1, 2, 3) }),
  "more keys than tokens": () =>
    open({ ...ONE, "layers.0.k": floats([1, 3, 1], 1, 2, 3), "layers.0.v": floats([1, 3, 1], 1, 2, 3) }),
  "queries that cannot share keys": () =>
    open({
      "layers.0.q": floats([3, 2, 1], 1, 2, 3, 4, 5, 6),
      "layers.0.k": floats([2, 2, 1], 1, 2, 3, 4),
      "layers.0.v": floats([2, 2, 1], 1, 2, 3, 4),
    }),
  "fewer tokens": () => open(ONE, { ...RECORD, tokens: [[["a"]]] }),
  "no such row of tokens": () => open(ONE, { ...RECORD, tokens: [] }),
  "a rule unknown": () => open(ONE, ruled({ allowed: { kind: "constructor" } })),
  "a rule missing": () => open(ONE, ruled({})),
  "a bias unknown": () => open(ONE, ruled({ allowed: { kind: "causal", offset: 0 }, bias: { kind: "new" } })),
  "an array that is not there": () => open(ONE, ruled({ allowed: { kind: "padding", keys: { array: "part.0" } } })),
};

for (const [what, make] of Object.entries(DAMAGED)) {
  test(`refused: ${what}`, () => assert.throws(() => make().layer(0), Damaged));
}
