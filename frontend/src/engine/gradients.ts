/** The path walked backwards, as src/jumok/path/gradients.py: from a loss at the output to q, k and v, and to W_Q, W_K, W_V. */

import { kvHeadOf, rowOf } from "./path";
import { dot } from "./products";
import type { Layer, Numbers, PerHead, Table } from "./record";
import { scaleOf } from "./rule";

/** Where the loss looks: at the layer's output, or at its attention weights. One of them is null. */
export interface Upstream {
  /** (query, d_out) dL/d(output) */
  readonly output: Table | null;
  /** (head, query, key) dL/d(weights) */
  readonly weights: PerHead | null;
}

/** dL/dq, dL/dk and dL/dv of every token; v is null where the loss does not read the values. */
export interface Backwards {
  readonly q: PerHead;
  readonly k: PerHead;
  readonly v: PerHead | null;
}

export function backwardsOf(layer: Layer, { output, weights: direct }: Upstream): Backwards {
  const [q, k] = [emptyAs(layer.q), emptyAs(layer.k)];
  const v = output === null ? null : emptyAs(layer.v!);
  for (let head = 0; head < layer.q.heads; head += 1) {
    const shared = kvHeadOf(layer, head);
    for (let query = 0; query < layer.q.rows; query += 1) {
      const { weights, scores } = rowOf(layer, head, query);
      const mixed = output === null ? null : mixedOf(layer, output, head, query);
      const ofWeights = mixed === null ? rowIn(direct!, head, query) : throughValues(layer.v!, shared, mixed);
      const ofScores = throughSoftmax(layer, weights, scores, ofWeights);
      const own = placeOf(q, head, query);
      for (let key = 0; key < weights.length; key += 1) {
        if (weights[key] === 0) continue; // not allowed, or too small to count
        const read = placeOf(k, shared, key);
        add(q.values, own, layer.k.values, read, q.width, ofScores[key]);
        add(k.values, read, layer.q.values, own, k.width, ofScores[key]);
        if (mixed !== null) add(v!.values, placeOf(v!, shared, key), mixed, 0, v!.width, weights[key]);
      }
    }
  }
  return { q, k, v };
}

/** (d_model, heads · d) dL/dW of the projection that made them: Σ over tokens of x ⊗ dL/d(its q, k or v). */
export function ofProjection(x: Table, { heads, rows, width, values }: PerHead): Table {
  const columns = heads * width;
  const sums = new Float64Array(x.columns * columns);
  for (let token = 0; token < rows; token += 1) {
    for (let row = 0; row < x.columns; row += 1) {
      for (let head = 0; head < heads; head += 1) {
        const into = row * columns + head * width;
        add(sums, into, values, (head * rows + token) * width, width, x.values[token * x.columns + row]);
      }
    }
  }
  return { rows: x.columns, columns, values: sums };
}

/** One token's part of one entry of dL/dW. */
export interface OuterTerm {
  readonly token: number;
  readonly x: number;
  readonly gradient: number;
  readonly product: number;
}

/** What each token adds to one entry of dL/dW. */
export function outerTerms(x: Table, of: PerHead, row: number, column: number): OuterTerm[] {
  const [head, inside] = [Math.floor(column / of.width), column % of.width];
  return Array.from({ length: x.rows }, (_, token) => {
    const a = x.values[token * x.columns + row];
    const gradient = of.values[(head * of.rows + token) * of.width + inside];
    return { token, x: a, gradient, product: a * gradient };
  });
}

function emptyAs({ heads, rows, width }: PerHead): PerHead {
  return { heads, rows, width, values: new Float64Array(heads * rows * width) };
}

function placeOf({ rows, width }: PerHead, head: number, row: number): number {
  return (head * rows + row) * width;
}

function rowIn(of: PerHead, head: number, row: number): Numbers {
  return of.values.subarray(placeOf(of, head, row), placeOf(of, head, row + 1));
}

/** Adds so many times a row to another, from these places on. */
function add(into: Numbers, atInto: number, row: Numbers, atRow: number, width: number, times: number): void {
  for (let at = 0; at < width; at += 1) into[atInto + at] += times * row[atRow + at];
}

/** dL/d(mixed) of one row: back through W_O, where there is one. */
function mixedOf({ v, heads }: Layer, output: Table, head: number, query: number): Numbers {
  const { width } = v!;
  const [from, w_o] = [query * output.columns, heads?.w_o ?? null];
  if (w_o === null) return output.values.subarray(from + head * width, from + (head + 1) * width);
  return Float64Array.from({ length: width }, (_, at) => {
    return dot(output.values, from, w_o.values, (head * width + at) * w_o.columns, w_o.columns);
  });
}

/** A little more weight on a key changes the loss by dL/d(mixed) · value. */
function throughValues(v: PerHead, head: number, mixed: Numbers): Numbers {
  return Float64Array.from({ length: v.rows }, (_, key) => dot(mixed, 0, v.values, placeOf(v, head, key), v.width));
}

/** weight × (dL/d(weight) − their average), then back through the soft cap and the scale. */
function throughSoftmax(layer: Layer, weights: Float64Array, scores: Float64Array, gradient: Numbers): Float64Array {
  const [scale, { softcap }] = [scaleOf(layer), layer.rule];
  const average = weights.reduce((sum, weight, key) => sum + weight * gradient[key], 0);
  return Float64Array.from(weights, (weight, key) => {
    const bent = softcap === null ? 0 : Math.tanh((scores[key] * scale) / softcap);
    return weight * (gradient[key] - average) * (1 - bent * bent) * scale;
  });
}
