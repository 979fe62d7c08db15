/** A row as flash attention comes to it, one tile of keys after another. As src/jumok/variants/steps.py. */
import { kvHeadOf, rowOf } from "./path";
import type { Layer } from "./record";

/** All that is kept of the keys read so far. */
export interface Kept {
  /** The largest score; null before the first. */
  readonly top: number | null;
  /** Σ exp(score − top) */
  readonly total: number;
  /** Σ exp(score − top) · value, not yet divided; null where no values travelled. */
  readonly mixed: Float64Array | null;
}

/** One tile of keys, folded into what is kept. */
export interface Fold {
  readonly from: number;
  readonly to: number;
  /** Those of its keys that may be read, with their scores and exp(score − the new top). */
  readonly read: readonly number[];
  readonly scores: readonly number[];
  readonly exps: readonly number[];
  readonly before: Kept;
  /** exp(old top − new top), by which what was summed before is multiplied; 0 where there was nothing. */
  readonly rescale: number;
  /** Σ exp of this tile alone. */
  readonly added: number;
  readonly after: Kept;
}

export interface Folding {
  readonly start: Kept;
  readonly folds: readonly Fold[];
  /** The row: what was summed, divided by the total, 0 where nothing may be read; null where no values travelled. */
  readonly mixed: Float64Array | null;
  /** Logarithm of the row's sum of exp; null where nothing may be read. */
  readonly lse: number | null;
}

const MOST_TILES = 8;

/** A tile's size, a power of two from 2 on, of which eight are enough for these keys. */
export function fewTiles(nKeys: number): number {
  let size = 2;
  while (size * MOST_TILES < nKeys) size *= 2;
  return size;
}

export function foldingOf(layer: Layer, head: number, query: number, tile: number): Folding {
  const { scaled, allowed } = rowOf(layer, head, query);
  const start = startOf(layer, head);
  const folds: Fold[] = [];
  let kept = start;
  for (let from = 0; from < layer.k.rows; from += tile) {
    const to = Math.min(layer.k.rows, from + tile);
    const read = Array.from({ length: to - from }, (_, at) => from + at).filter((key) => allowed[key] !== 0);
    folds.push(folded(layer, head, kept, { from, to, read, scores: read.map((key) => scaled[key]) }));
    kept = folds[folds.length - 1].after;
  }
  const { top, total, mixed } = kept;
  if (top === null) return { start, folds, mixed, lse: null };
  return { start, folds, mixed: mixed && mixed.map((sum) => sum / total), lse: top + Math.log(total) };
}

/** Before the first key: only the sink, where there is one, has taken its share. */
function startOf(layer: Layer, head: number): Kept {
  const { sink } = layer.rule;
  const mixed = layer.v && new Float64Array(layer.v.width);
  return sink === null ? { top: null, total: 0, mixed } : { top: sink[head], total: 1, mixed };
}

function folded(layer: Layer, head: number, before: Kept, tile: Pick<Fold, "from" | "to" | "read" | "scores">): Fold {
  const top = tile.scores.reduce((most, score) => Math.max(most, score), before.top ?? -Infinity);
  if (top === -Infinity) return { ...tile, exps: [], before, rescale: 0, added: 0, after: before };
  const rescale = before.top === null ? 0 : Math.exp(before.top - top);
  const exps = tile.scores.map((score) => Math.exp(score - top));
  const added = exps.reduce((sum, exp) => sum + exp, 0);
  const after = { top, total: before.total * rescale + added, mixed: mixedAfter(layer, head, before, rescale, tile.read, exps) };
  return { ...tile, exps, before, rescale, added, after };
}

function mixedAfter(
  layer: Layer, head: number, { mixed }: Kept, rescale: number, read: readonly number[], exps: readonly number[],
): Float64Array | null {
  if (mixed === null) return null;
  const after = mixed.map((sum) => sum * rescale);
  read.forEach((key, at) => valueOf(layer, head, key)!.forEach((value, column) => (after[column] += exps[at] * value)));
  return after;
}

/** What a key hands over; null where no values travelled. */
export function valueOf(layer: Layer, head: number, key: number): Float64Array | null {
  if (layer.v === null) return null;
  const { rows, width, values } = layer.v;
  const from = (kvHeadOf(layer, head) * rows + key) * width;
  return Float64Array.from(values.subarray(from, from + width));
}
