/** The weights of a window of queries and keys as an image, at any length: never an array of n × n numbers. */

import { knowsShare, reachOf, shareOf, weightAt } from "./path";
import type { Layer } from "./record";
import { allowedAt, endKey, isRange } from "./rule";

/** In cells, which may be fractional. */
export interface Window {
  readonly row: number;
  readonly rows: number;
  readonly column: number;
  readonly columns: number;
}

export interface Image {
  readonly width: number;
  readonly height: number;
  /** The largest weight known under each pixel; −1 where nothing allowed is known. */
  readonly values: Float32Array;
  /** True where every cell under every pixel was looked at. */
  readonly exact: boolean;
}

/** After so long `exact` hands back what it has, so that the page can answer. */
const SLICE_MS = 6;

/** The whole cells that an image of this window covers, first to last pixel. */
export function cellsOf(layer: Layer, window: Window): Window {
  const [row, rows] = wholeCells(window.row, window.rows, layer.q.rows);
  const [column, columns] = wholeCells(window.column, window.columns, layer.k.rows);
  return { row, rows, column, columns };
}

function wholeCells(from: number, n: number, all: number): [number, number] {
  const first = Math.min(Math.max(0, Math.floor(from)), all - 1);
  const end = Math.min(Math.max(first + 1, Math.ceil(from + n)), all);
  return [first, end - first];
}

/**
 * At once: one query for each row of pixels, and of its keys the first under each pixel, but all near the diagonal.
 * With no more cells than pixels, an axis has one pixel a cell; where both have, the image is exact.
 */
export function sampled(layer: Layer, head: number, window: Window, width: number, height: number): Image {
  const grid = new Grid(layer, head, window, width, height);
  for (let y = 0; y < grid.height; y++) grid.sample(y);
  return grid.image(grid.isWhole);
}

/**
 * The largest weight under every pixel, in slices of a few milliseconds: after each one the image so far. It begins
 * from `start`, the sampled image of the same window, or makes one first.
 */
export function* exact(
  layer: Layer,
  head: number,
  window: Window,
  width: number,
  height: number,
  start: Image | null = null,
): Generator<Image, void, void> {
  const grid = new Grid(layer, head, window, width, height);
  const isSampled = start !== null && grid.take(start);
  let begun = performance.now();
  for (const step of grid.steps(isSampled)) {
    step();
    if (performance.now() - begun < SLICE_MS) continue;
    yield grid.image(false);
    begun = performance.now();
  }
  yield grid.image(true);
}

/** The heaviest keys of one query, heaviest first, and what the others weigh together. */
export function topOf(layer: Layer, head: number, query: number, k: number): Top {
  const { from, scaled } = reachOf(layer, head, query);
  const { top, total } = shareOf(layer, head, query, { from, scaled });
  const heaviest: Read[] = [];
  let rest = 0;
  for (let i = 0; i < scaled.length; i++) {
    if (!allowedAt(layer.rule.allowed, query, from + i)) continue;
    const weight = Math.exp(scaled[i] - top) / total;
    rest += weight;
    if (heaviest.length === k && weight <= heaviest[k - 1].weight) continue;
    heaviest.splice(heaviest.findLastIndex((read) => read.weight >= weight) + 1, 0, { key: from + i, weight });
    heaviest.length = Math.min(k, heaviest.length);
  }
  return { heaviest, rest: Math.max(0, heaviest.reduce((left, read) => left - read.weight, rest)) };
}

export interface Read {
  readonly key: number;
  readonly weight: number;
}

export interface Top {
  readonly heaviest: readonly Read[];
  readonly rest: number;
}

/** Cells dealt to pixels in order, and the image so far. */
class Grid {
  readonly width: number;
  readonly height: number;
  private readonly cells: Window;
  private readonly values: Float32Array;

  constructor(
    private readonly layer: Layer,
    private readonly head: number,
    window: Window,
    width: number,
    height: number,
  ) {
    this.cells = cellsOf(layer, window);
    this.width = Math.min(width, this.cells.columns);
    this.height = Math.min(height, this.cells.rows);
    this.values = new Float32Array(this.width * this.height).fill(-1);
  }

  /** True where every pixel is one cell. */
  get isWhole(): boolean {
    return this.width === this.cells.columns && this.height === this.cells.rows;
  }

  /** The frame is new each time; the values are the same ones, which go on being filled. */
  image(isExact: boolean): Image {
    return { width: this.width, height: this.height, values: this.values, exact: isExact };
  }

  /** Whether an image fits; if so, it is where this one begins. */
  take(start: Image): boolean {
    const fits = start.width === this.width && start.height === this.height;
    if (fits) this.values.set(start.values);
    return fits;
  }

  /** Everything there is to do, one query at a time. */
  *steps(isSampled: boolean): Generator<() => void, void, void> {
    if (!isSampled) for (let y = 0; y < this.height; y++) yield () => this.sample(y);
    if (this.isWhole) return;
    for (let y = 0; y < this.height; y++) {
      for (let query = this.rowFrom(y); query < this.rowFrom(y + 1); query++) yield () => this.pool(y, query);
    }
  }

  /** Some cells of one query, or all where its sum has to be made anyway. */
  sample(y: number): void {
    const query = this.rowFrom(y);
    if (!knowsShare(this.layer, this.head, query)) return this.pool(y, query);
    const last = endKey(this.layer.rule.allowed, query, this.layer.k.rows) - 1;
    for (let x = 0; x < this.width; x++) {
      const from = this.columnFrom(x);
      const end = this.columnFrom(x + 1);
      const mayBeSharp = isNear(query, from, end) || isNear(last, from, end);
      this.raise(y, x, this.largest(query, from, mayBeSharp ? end : from + 1));
    }
  }

  /** All cells of one query. */
  pool(y: number, query: number): void {
    const { layer, head, cells } = this;
    const { allowed } = layer.rule;
    const reach = reachOf(layer, head, query);
    const { top, total } = shareOf(layer, head, query, reach);
    const end = Math.min(cells.column + cells.columns, reach.from + reach.scaled.length);
    const all = isRange(allowed);
    let key = Math.max(cells.column, reach.from);
    for (let x = this.pixelOf(key); key < end; x++) {
      let highest = -Infinity;
      for (const edge = Math.min(end, this.columnFrom(x + 1)); key < edge; key++) {
        const scaled = reach.scaled[key - reach.from];
        if (scaled > highest && (all || allowedAt(allowed, query, key))) highest = scaled;
      }
      if (highest > -Infinity) this.raise(y, x, Math.exp(highest - top) / total);
    }
  }

  private largest(query: number, from: number, end: number): number {
    let largest = -1;
    for (let key = from; key < end; key++) {
      if (!allowedAt(this.layer.rule.allowed, query, key)) continue;
      largest = Math.max(largest, weightAt(this.layer, this.head, query, key));
    }
    return largest;
  }

  private raise(y: number, x: number, weight: number): void {
    const at = y * this.width + x;
    if (weight > this.values[at]) this.values[at] = weight;
  }

  private rowFrom(y: number): number {
    return this.cells.row + Math.floor((y * this.cells.rows) / this.height);
  }

  private columnFrom(x: number): number {
    return this.cells.column + Math.floor((x * this.cells.columns) / this.width);
  }

  private pixelOf(key: number): number {
    return Math.ceil(((key - this.cells.column + 1) * this.width) / this.cells.columns) - 1;
  }
}

/** The key is one of these, or the one after them: then the key before it is the last of these. */
function isNear(key: number, from: number, end: number): boolean {
  return key >= from && key <= end;
}
