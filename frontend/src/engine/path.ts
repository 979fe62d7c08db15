/**
 * Every stage from q, k and v on: softmax(Q Kᵀ / √d_k + mask) V, a cell, a row or a table at a time.
 *
 * All sums are in doubles, whatever the record's own numbers are.
 */

import { dot, dots, throughTable } from "./products";
import type { Layer, Numbers, PerHead, Stage, Table, Token } from "./record";
import { allowedAt, biasAt, endKey, firstKey, isRange, scaleOf } from "./rule";

/** A table of more cells is refused; its rows are not. */
export const MOST_CELLS = 1_000_000;

export class TooLarge extends Error {
  constructor(
    readonly stage: Stage,
    readonly cells: number,
  ) {
    super(`the whole of ${stage} has ${cells} cells; at most ${MOST_CELLS} are made at once`);
  }
}

/** A stage was asked for whose numbers did not travel. */
export class NotHere extends Error {
  constructor(readonly stage: Stage) {
    super(`the numbers for ${stage} are not in this record`);
  }
}

/** One query against every key. */
export interface Row {
  readonly scores: Float64Array;
  readonly scaled: Float64Array;
  readonly allowed: Uint8Array;
  readonly weights: Float64Array;
  /** null where no values travelled. */
  readonly mixed: Float64Array | null;
}

// cells --------------------------------------------------------------------------------------------

/** The head of k and v that a head reads; with fewer of them, neighbouring heads share one. */
export function kvHeadOf(layer: Layer, head: number): number {
  return Math.floor(head / (layer.q.heads / layer.k.heads));
}

export function scoreAt(layer: Layer, head: number, query: number, key: number): number {
  const { q, k } = layer;
  return dot(q.values, placeOf(q, head, query), k.values, placeOf(k, kvHeadOf(layer, head), key), q.width);
}

/** The score times the scale, bent under the soft cap, plus the position bias. */
export function scaledAt(layer: Layer, head: number, query: number, key: number): number {
  return comparable(layer, scaleOf(layer), scoreAt(layer, head, query, key), head, query, key);
}

/** The logarithm of the sum of exp over the allowed keys and the sink; −Infinity where nothing is allowed. */
export function lseAt(layer: Layer, head: number, query: number): number {
  const { top, total } = shareOf(layer, head, query);
  return total > 0 ? top + Math.log(total) : -Infinity;
}

export function weightAt(layer: Layer, head: number, query: number, key: number): number {
  if (!allowedAt(layer.rule.allowed, query, key)) return 0;
  const { top, total } = shareOf(layer, head, query);
  return Math.exp(scaledAt(layer, head, query, key) - top) / total;
}

// rows ---------------------------------------------------------------------------------------------

export function rowOf(layer: Layer, head: number, query: number): Row {
  const scores = scoresRow(layer, head, query);
  const scaled = scores.slice();
  makeScaled(layer, head, query, 0, scaled);
  const weights = weightsFrom(layer, head, query, scaled);
  return { scores, scaled, allowed: allowedRow(layer, query), weights, mixed: mixedFrom(layer, head, weights) };
}

/** Each weight times the value it is for: (key, d_value). */
export function weightedValuesOf(layer: Layer, head: number, query: number): Table {
  const { rows, columns, values } = headOf(here("weighted_values", layer.v), kvHeadOf(layer, head));
  const weights = weightsRow(layer, head, query);
  return { rows, columns, values: Float64Array.from(values, (v, at) => weights[Math.floor(at / columns)] * v) };
}

/** The heads side by side, through w_o and its bias where there are such; null where no values travelled. */
export function outputRowOf(layer: Layer, query: number): Numbers | null {
  if (layer.v === null) return null;
  const joined = new Float64Array(layer.q.heads * layer.v.width);
  for (let head = 0; head < layer.q.heads; head++) {
    joined.set(mixedRow(layer, head, query), head * layer.v.width);
  }
  const { w_o, b_o } = layer.heads ?? { w_o: null, b_o: null };
  const output = w_o === null ? joined : throughTable(joined, w_o);
  return b_o === null ? output : output.map((number, column) => number + b_o[column]);
}

function placeOf(array: PerHead, head: number, row: number): number {
  return (head * array.rows + row) * array.width;
}

function scoresRow(layer: Layer, head: number, query: number): Float64Array {
  const scores = new Float64Array(layer.k.rows);
  putScores(layer, head, query, 0, scores);
  return scores;
}

function scaledRow(layer: Layer, head: number, query: number): Float64Array {
  const scaled = scoresRow(layer, head, query);
  makeScaled(layer, head, query, 0, scaled);
  return scaled;
}

function allowedRow(layer: Layer, query: number): Uint8Array {
  const row = new Uint8Array(layer.k.rows);
  for (let key = 0; key < row.length; key++) row[key] = allowedAt(layer.rule.allowed, query, key) ? 1 : 0;
  return row;
}

function weightsRow(layer: Layer, head: number, query: number): Float64Array {
  return weightsFrom(layer, head, query, scaledRow(layer, head, query));
}

function mixedRow(layer: Layer, head: number, query: number): Float64Array {
  return mixedFrom(layer, head, weightsRow(layer, head, query)) ?? new Float64Array(0);
}

function weightsFrom(layer: Layer, head: number, query: number, scaled: Float64Array): Float64Array {
  const { top, total } = shareIn(layer, head, query, 0, scaled);
  const { allowed } = layer.rule;
  return scaled.map((s, key) => (allowedAt(allowed, query, key) ? Math.exp(s - top) / total : 0));
}

/** The values summed by weight. */
function mixedFrom(layer: Layer, head: number, weights: Float64Array): Float64Array | null {
  if (layer.v === null) return null;
  const { values, width } = layer.v;
  const mixed = new Float64Array(width);
  for (let key = 0, at = placeOf(layer.v, kvHeadOf(layer, head), 0); key < weights.length; key++, at += width) {
    const weight = weights[key];
    if (weight === 0) continue;
    for (let column = 0; column < width; column++) mixed[column] += weight * values[at + column];
  }
  return mixed;
}

/** The scores of the keys from `from` on, as many as fit. */
function putScores(layer: Layer, head: number, query: number, from: number, into: Float64Array): void {
  const { q, k } = layer;
  const asks = q.values.subarray(placeOf(q, head, query), placeOf(q, head, query + 1));
  dots(asks, k.values, placeOf(k, kvHeadOf(layer, head), from), into);
}

/** Scores of the keys from `from` on, made comparable where they stand. */
function makeScaled(layer: Layer, head: number, query: number, from: number, scores: Float64Array): void {
  const scale = scaleOf(layer);
  for (let i = 0; i < scores.length; i++) scores[i] = comparable(layer, scale, scores[i], head, query, from + i);
}

function comparable(layer: Layer, scale: number, score: number, head: number, query: number, key: number): number {
  const { softcap, bias } = layer.rule;
  let scaled = score * scale;
  if (softcap !== null) scaled = softcap * Math.tanh(scaled / softcap);
  return bias === null ? scaled : scaled + biasAt(bias, head, query, key);
}

// what a row is shared out by ----------------------------------------------------------------------

/** The scaled scores of the keys from `from` on; no key outside of them may be read. */
export interface Reach {
  readonly from: number;
  readonly scaled: Float64Array;
}

/** A weight is exp(scaled − top) / total; total is 0 where nothing is allowed. */
interface Share {
  readonly top: number;
  readonly total: number;
}

const NOTHING: Share = { top: 0, total: 0 };
const shares = new WeakMap<Layer, Map<number, { top: Float64Array; total: Float64Array }>>();
let room = new Float64Array(0);

/** The keys that a query can reach. Its array is used again by the next call. */
export function reachOf(layer: Layer, head: number, query: number): Reach {
  const { allowed } = layer.rule;
  const from = firstKey(allowed, query);
  const n = Math.max(0, endKey(allowed, query, layer.k.rows) - from);
  if (room.length < n) room = new Float64Array(layer.k.rows);
  const scaled = room.subarray(0, n);
  putScores(layer, head, query, from, scaled);
  makeScaled(layer, head, query, from, scaled);
  return { from, scaled };
}

/** From the sums that travelled; else made once for a row and kept beside the layer. */
export function shareOf(layer: Layer, head: number, query: number, reach?: Reach): Share {
  if (layer.lse !== null) return travelled(layer.lse[head * layer.q.rows + query]);
  const { top, total } = keptShares(layer, head);
  if (Number.isNaN(total[query])) {
    const { from, scaled } = reach ?? reachOf(layer, head, query);
    const share = shareIn(layer, head, query, from, scaled);
    top[query] = share.top;
    total[query] = share.total;
  }
  return { top: top[query], total: total[query] };
}

/** True where a row's share need not be computed any more. */
export function knowsShare(layer: Layer, head: number, query: number): boolean {
  return layer.lse !== null || !Number.isNaN(keptShares(layer, head).total[query]);
}

/** The largest of the scaled scores and the sink, and the sum of exp once it is taken off. */
function shareIn(layer: Layer, head: number, query: number, from: number, scaled: Float64Array): Share {
  const { allowed, sink } = layer.rule;
  const all = isRange(allowed);
  const begin = Math.max(from, firstKey(allowed, query)) - from;
  const end = endKey(allowed, query, from + scaled.length) - from;
  let top = -Infinity;
  for (let i = begin; i < end; i++) {
    if (scaled[i] > top && (all || allowedAt(allowed, query, from + i))) top = scaled[i];
  }
  if (top === -Infinity) return NOTHING;
  if (sink !== null) top = Math.max(top, sink[head]);
  let total = 0;
  for (let i = begin; i < end; i++) {
    if (all || allowedAt(allowed, query, from + i)) total += Math.exp(scaled[i] - top);
  }
  return { top, total: sink === null ? total : total + Math.exp(sink[head] - top) };
}

/** A file has no −Infinity; it says −1e30. */
function travelled(lse: number): Share {
  return lse > -1e29 ? { top: lse, total: 1 } : NOTHING;
}

function keptShares(layer: Layer, head: number): { top: Float64Array; total: Float64Array } {
  const ofLayer = shares.get(layer) ?? new Map<number, { top: Float64Array; total: Float64Array }>();
  shares.set(layer, ofLayer);
  const n = layer.q.rows;
  const kept = ofLayer.get(head) ?? { top: new Float64Array(n), total: new Float64Array(n).fill(NaN) };
  ofLayer.set(head, kept);
  return kept;
}

// tables -------------------------------------------------------------------------------------------

type Maker = (layer: Layer, head: number) => Table;

const MAKERS: Readonly<Record<Stage, Maker>> = {
  x: (layer) => here("x", layer.x),
  w_q: (layer) => here("w_q", layer.heads).w_q,
  w_k: (layer) => here("w_k", layer.heads).w_k,
  w_v: (layer) => here("w_v", layer.heads).w_v,
  w_o: (layer) => here("w_o", layer.heads?.w_o),
  q: (layer, head) => headOf(layer.q, head),
  k: (layer, head) => headOf(layer.k, kvHeadOf(layer, head)),
  v: (layer, head) => headOf(here("v", layer.v), kvHeadOf(layer, head)),
  scores: byQuery("scores", (layer) => layer.k.rows, scoresRow),
  scaled: byQuery("scaled", (layer) => layer.k.rows, scaledRow),
  allowed: byQuery("allowed", (layer) => layer.k.rows, (layer, _, query) => allowedRow(layer, query)),
  weights: byQuery("weights", (layer) => layer.k.rows, weightsRow),
  weighted_values: allWeightedValues,
  mixed: byQuery("mixed", (layer) => here("mixed", layer.v).width, mixedRow),
  output: byQuery(
    "output",
    (layer) => outputWidth(layer) ?? here<number>("output", null),
    (layer, _, query) => outputRowOf(layer, query) ?? [],
  ),
};

/**
 * A whole stage: of one head where there are heads. Of weighted_values the rows are pairs of query and key,
 * all keys of query 0 first.
 */
export function stageOf(layer: Layer, stage: Stage, head: number): Table {
  return MAKERS[stage](layer, head);
}

function here<T>(stage: Stage, part: T | null | undefined): T {
  if (part === null || part === undefined) throw new NotHere(stage);
  return part;
}

function headOf(array: PerHead, head: number): Table {
  const { rows, width, values } = array;
  return { rows, columns: width, values: values.subarray(placeOf(array, head, 0), placeOf(array, head + 1, 0)) };
}

function byQuery(
  stage: Stage,
  width: (layer: Layer) => number,
  row: (layer: Layer, head: number, query: number) => ArrayLike<number>,
): Maker {
  return (layer, head) => {
    const rows = layer.q.rows;
    const columns = width(layer);
    if (rows * columns > MOST_CELLS) throw new TooLarge(stage, rows * columns);
    const values = new Float64Array(rows * columns);
    for (let query = 0; query < rows; query++) values.set(row(layer, head, query), query * columns);
    return { rows, columns, values };
  };
}

function allWeightedValues(layer: Layer, head: number): Table {
  const { rows, width } = here("weighted_values", layer.v);
  const pairs = byQuery("weighted_values", () => rows * width, (...at) => weightedValuesOf(...at).values)(layer, head);
  return { rows: layer.q.rows * rows, columns: width, values: pairs.values };
}

function outputWidth(layer: Layer): number | null {
  if (layer.v === null) return null;
  return layer.heads?.w_o?.columns ?? layer.q.heads * layer.v.width;
}

// names --------------------------------------------------------------------------------------------

/**
 * The names of the dimensions, or null where they have none: q, k and v are read in the embedding's names where
 * they are as wide as it and there is one head.
 */
export function namesOf(layer: Layer, what: "x" | "q" | "k" | "v" | "output"): readonly string[] | null {
  const names = layer.dimensions;
  if (!names?.length) return null;
  if (what === "x") return names;
  if (what === "output") return outputWidth(layer) === names.length ? names : null;
  const width = what === "v" ? layer.v?.width : layer.q.width;
  return layer.q.heads === 1 && width === names.length ? names : null;
}

/** The tokens by the names that find them again: `the#2` for the second. */
export function namesOfTokens(tokens: readonly Token[]): string[] {
  const texts = tokens.map(({ text }) => text.normalize("NFC"));
  const standing = new Map<string, number>();
  const counted = texts.map((text) => {
    standing.set(text, (standing.get(text) ?? 0) + 1);
    return standing.get(text);
  });
  return texts.map((text, at) => (standing.get(text) === 1 ? text : `${text}#${counted[at]}`));
}
