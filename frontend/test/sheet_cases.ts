/** Sheets for tests: a named one of one head, two layers with residual, and random ones with everything in them. */

import type { Allowed, Numbers, Source, Table } from "../src/engine/record";
import type { Sheet, SheetLayer } from "../src/engine/sheet";

export function tableOf(rows: readonly (readonly number[])[]): Table {
  return { rows: rows.length, columns: rows[0].length, values: Float64Array.from(rows.flat()) };
}

export function identity(n: number): Table {
  return tableOf(
    Array.from({ length: n }, (_, row) => Array.from({ length: n }, (_, column) => Number(row === column))),
  );
}

/** Numbers from −1 to 1 that a seed determines (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

export function drawn(rows: number, columns: number, draw: () => number): Table {
  return { rows, columns, values: Float64Array.from({ length: rows * columns }, draw) };
}

export function sourceOf(details: Source["details"]): Source {
  return {
    kind: "example",
    name: "test",
    layer: null,
    exact: true,
    backend: "numpy",
    shared_heads: null,
    special_tokens: null,
    details,
  };
}

export function layerOf(parts: Partial<SheetLayer> & Pick<SheetLayer, "w_q" | "w_k" | "w_v">): SheetLayer {
  const none = {
    w_o: null,
    b_q: null,
    b_k: null,
    b_v: null,
    b_o: null,
    softcap: null,
    bias: null,
    sink: null,
    rotation: null,
  };
  const usual = { x: null, n_heads: 1, n_kv_heads: 1, scale: null, temperature: 1, residual: false, coded: false };
  return { ...none, ...usual, allowed: { kind: "everything" }, source: sourceOf({}), ...parts };
}

export function sheetOf(
  words: readonly string[],
  dimensions: readonly string[] | null,
  x: Table,
  layers: SheetLayer[],
): Sheet {
  const tokens = words.map((text) => {
    return { text, span: null, label: { text, part: 1, parts: 1, raw: null, special: false } };
  });
  return { tokens, dimensions, x, layers, wanted: [] };
}

/** Four tokens in three named dimensions, one head. */
export function small(parts: Partial<SheetLayer> = {}): Sheet {
  const x = tableOf([
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [0.5, 0, 0.5],
  ]);
  const w_q = tableOf([
    [0, 2, 0],
    [1, 0, 3],
    [0, 0, 1],
  ]);
  const details = { focus: 2, sentence: "the cat saw it", meaning: { Animal: { en: "an animal", ko: "동물" } } };
  const layer = layerOf({ w_q, w_k: identity(3), w_v: identity(3), source: sourceOf(details), ...parts });
  return sheetOf(["the", "cat", "saw", "it"], ["Word", "Animal", "Action"], x, [layer]);
}

/** Two layers whose outputs are added to what they read. */
export function deep(): Sheet {
  const draw = random(5);
  const layers = [0, 1].map((at) => {
    const [w_q, w_k, w_v] = [drawn(3, 3, draw), drawn(3, 3, draw), drawn(3, 3, draw)];
    return layerOf({
      w_q,
      w_k,
      w_v,
      residual: true,
      source: sourceOf({ residual: true, n_layers: 2, temperature: 1 + at }),
      temperature: 1 + at,
    });
  });
  return sheetOf(["a", "b", "a"], ["X", "Y", "Z"], drawn(3, 3, draw), layers);
}

/** Grouped heads, biases, w_o, rotation, soft cap, sink, a bias, a window: everything at once, in two layers. */
export function rich(seed: number): Sheet {
  const draw = random(seed);
  const vector = (n: number): Numbers => Float64Array.from({ length: n }, draw);
  const allowed: Allowed = {
    kind: "both",
    first: { kind: "causal", offset: 0 },
    second: { kind: "window", n_back: 3, n_ahead: 0, offset: 0 },
  };
  const layers = [0, 1].map(() =>
    layerOf({
      w_q: drawn(6, 16, draw),
      w_k: drawn(6, 8, draw),
      w_v: drawn(6, 6, draw),
      w_o: drawn(12, 6, draw),
      b_q: vector(16),
      b_k: vector(8),
      b_v: vector(6),
      b_o: vector(6),
      n_heads: 4,
      n_kv_heads: 2,
      scale: 0.7,
      temperature: 1.5,
      softcap: 2,
      sink: vector(4),
      allowed,
      residual: true,
      bias: { kind: "alibi", slopes: Float64Array.of(1, 0.5, 0.25, 0.125), offset: 0 },
      rotation: { kind: "rotary", base: 10_000, interleaved: seed % 2 === 0, offset: 3 },
      source: sourceOf({ residual: true, temperature: 1.5 }),
    }),
  );
  return sheetOf(["p", "q", "r", "s", "t"], null, drawn(5, 6, draw), layers);
}
