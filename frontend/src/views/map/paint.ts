/** Weights as pixels on a canvas: at once what can be had at once, then exactly, a slice a frame. */
import { cellsOf, exact, sampled, topOf as heaviestOf, type Image as Weights, type Window } from "../../engine/map";
import { knowsShare, shareOf } from "../../engine/path";
import type { Layer } from "../../engine/record";
import { inkOn, placeOf, weightColour, type Mapping, type Rgb } from "../../look/colours";

/** What of a layer is painted. */
export interface Subject {
  readonly layer: Layer;
  readonly head: number;
  readonly window: Window;
}

/** An image and the whole cells it covers, which may reach beyond the window. */
export interface Picture {
  readonly image: Weights;
  readonly covers: Window;
}

/** Weights are computed for up to this many pixels a side; the canvas may be finer. */
const MOST_PIXELS = 512;
/** For up to this many at once, where each row of them needs its sum over all keys first. */
const MOST_UNSUMMED = 64;
const SLICE_MS = 8;

/** Give pictures to `show`, each better than the one before; the last is exact. Returns how to stop it. */
export function pictured(
  { layer, head, window }: Subject,
  width: number,
  height: number,
  show: (picture: Picture) => void,
): () => void {
  const covers = cellsOf(layer, window);
  const [across, down] = [width, height].map((side) => Math.max(1, Math.min(MOST_PIXELS, Math.ceil(side))));
  const images = imagesOf({ layer, head, window }, across, down);
  let frame = requestAnimationFrame(function slice() {
    const { value: image } = images.next();
    if (image) show({ image, covers });
    if (!image?.exact) frame = requestAnimationFrame(slice);
  });
  return () => cancelAnimationFrame(frame);
}

/** A slice of work each; null where it made nothing new to see. */
function* imagesOf({ layer, head, window }: Subject, across: number, down: number): Generator<Weights | null, void, void> {
  const covers = cellsOf(layer, window);
  const height = Math.min(down, covers.rows);
  const unsummed = Array.from({ length: height }, (_, row) => queryOf(row, height, covers)).filter(
    (query) => !knowsShare(layer, head, query),
  );
  if (unsummed.length > MOST_UNSUMMED) {
    yield sampled(layer, head, window, Math.min(across, MOST_UNSUMMED), MOST_UNSUMMED);
    yield* summed({ layer, head, window }, unsummed);
  }
  const first = sampled(layer, head, window, across, down);
  yield first;
  if (!first.exact) yield* exact(layer, head, window, across, down, first);
}

/** These queries' sums, made and kept. */
function* summed({ layer, head }: Subject, queries: readonly number[]): Generator<null, void, void> {
  let begun = performance.now();
  for (const query of queries) {
    shareOf(layer, head, query);
    if (performance.now() - begun < SLICE_MS) continue;
    yield null;
    begun = performance.now();
  }
}

/** The query whose weights a row of pixels begins with. */
function queryOf(row: number, height: number, covers: Window): number {
  return covers.row + Math.floor((row * covers.rows) / height);
}

export function topOf(values: Float32Array, from = 0, to = values.length): number {
  let top = 0;
  for (let at = from; at < to; at++) if (values[at] > top) top = values[at];
  return top;
}

const rowTops = new WeakMap<Layer, Map<number, Float32Array>>();
/** So long a frame may look for the largest weights of rows that are not all in view. */
const TOPS_MS = 6;

/** The largest weight of a row of pixels, of all its keys or, until these were looked at, of those in view. */
export type TopOfRow = (row: number) => number;

/** `missing` tells how many rows were not looked at yet: painting again will go on. */
export function topsOf({ layer, head }: Subject, { image, covers }: Picture): { top: TopOfRow; missing: () => number } {
  const { width, height, values } = image;
  const kept = keptTops(layer, head);
  const end = performance.now() + TOPS_MS;
  let missing = 0;
  const top = (row: number): number => {
    const inView = topOf(values, row * width, (row + 1) * width);
    if (covers.columns === layer.k.rows) return inView;
    const query = queryOf(row, height, covers);
    if (Number.isNaN(kept[query]) && performance.now() < end) {
      kept[query] = heaviestOf(layer, head, query, 1).heaviest[0]?.weight ?? 0;
    }
    if (Number.isNaN(kept[query])) missing += 1;
    return Math.max(inView, kept[query] || 0);
  };
  return { top, missing: () => missing };
}

function keptTops(layer: Layer, head: number): Float32Array {
  const ofLayer = rowTops.get(layer) ?? new Map<number, Float32Array>();
  rowTops.set(layer, ofLayer);
  const kept = ofLayer.get(head) ?? new Float32Array(layer.q.rows).fill(NaN);
  ofLayer.set(head, kept);
  return kept;
}

/** The picture's pixels; what is not allowed stays clear, so that the ground shows through. */
export function pixelsOf({ width, height, values }: Weights, mapping: Mapping, topOfRow?: TopOfRow): ImageData {
  const data = new ImageData(width, height);
  const own: TopOfRow = (row) => topOf(values, row * width, (row + 1) * width);
  for (let row = 0; row < height; row++) {
    const top = mapping === "row" ? (topOfRow ?? own)(row) : 1;
    for (let at = row * width; at < (row + 1) * width; at++) {
      if (values[at] < 0) continue;
      put(data, at, weightColour(placeOf(values[at], mapping, top)));
    }
  }
  return data;
}

export function put(data: ImageData, at: number, [red, green, blue]: Rgb): void {
  data.data[4 * at] = red;
  data.data[4 * at + 1] = green;
  data.data[4 * at + 2] = blue;
  data.data[4 * at + 3] = 255;
}

/** Draw pixels that cover some cells so that the window fills the canvas. */
export function spread(canvas: HTMLCanvasElement, data: ImageData, covers: Window, window: Window): void {
  const small = canvas.ownerDocument.createElement("canvas");
  [small.width, small.height] = [data.width, data.height];
  small.getContext("2d")!.putImageData(data, 0, 0);
  const context = canvas.getContext("2d")!;
  const { across, down } = cellSize(canvas, window);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingEnabled = false;
  const [left, top] = [(covers.column - window.column) * across, (covers.row - window.row) * down];
  context.drawImage(small, left, top, covers.columns * across, covers.rows * down);
}

interface Sized {
  readonly width: number;
  readonly height: number;
}

export function cellSize({ width, height }: Sized, window: Window): { across: number; down: number } {
  return { across: width / window.columns, down: height / window.rows };
}

/** Write into every cell; `cell` gives the text and the colour under it, or null for none. */
export function lettered(
  canvas: HTMLCanvasElement,
  window: Window,
  covers: Window,
  density: number,
  cell: (row: number, column: number) => { text: string; on: Rgb } | null,
): void {
  const context = canvas.getContext("2d")!;
  const { across, down } = cellSize(canvas, window);
  const size = Math.min(20 * density, Math.max(9 * density, Math.min(across / 3.6, down / 1.8)));
  context.font = `${size}px ${getComputedStyle(canvas).fontFamily}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let row = 0; row < covers.rows; row++) {
    for (let column = 0; column < covers.columns; column++) {
      const said = cell(row, column);
      if (said === null) continue;
      context.fillStyle = inkOn(said.on);
      const [x, y] = [covers.column + column - window.column + 0.5, covers.row + row - window.row + 0.5];
      context.fillText(said.text, x * across, y * down, across - 2 * density);
    }
  }
}
