/** All heads in one canvas: from the document's picture of them, or drawn here, some a frame. */
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { sampled } from "../../engine/map";
import type { Atlas } from "../../engine/record";
import type { Desk } from "../../state";
import { pixelsOf } from "../map/paint";
import { inSlices } from "../map/slices";
import { wholeOf } from "../map/window";
import type { HeadFacts } from "./facts";

/** Pixels of a side, where they are drawn here. */
const SIDE = 48;

/** Heads in their order, so many a row, into the canvas. */
export function useThumbnails(
  canvas: RefObject<HTMLCanvasElement | null>,
  desk: Desk,
  heads: readonly HeadFacts[],
  columns: number,
): void {
  const made = desk.made.value;
  const asItCame = desk.sheet.value === desk.original;
  const atlas = asItCame && desk.document.atlas?.png ? desk.document.atlas : null;
  useEffect(() => {
    const on = canvas.current!;
    const side = atlas?.size ?? SIDE;
    [on.width, on.height] = [columns * side, Math.ceil(heads.length / columns) * side];
    return atlas === null ? drawn(on, desk, heads, columns) : copied(on, atlas, heads, columns);
  }, [desk, made, atlas, heads, columns]);
}

/** Pieces of the atlas, each where its head stands now. */
function copied(on: HTMLCanvasElement, { png, size }: Atlas, heads: readonly HeadFacts[], columns: number): () => void {
  const image = on.ownerDocument.createElement("img");
  let wanted = true;
  image.onload = () => {
    if (!wanted) return;
    const context = on.getContext("2d")!;
    heads.forEach(({ layer, head }, at) => {
      const [x, y] = [(at % columns) * size, Math.floor(at / columns) * size];
      context.drawImage(image, head * size, layer * size, size, size, x, y, size, size);
    });
    on.dataset.painted = "atlas";
  };
  image.src = png!;
  return () => void (wanted = false);
}

function drawn(on: HTMLCanvasElement, desk: Desk, heads: readonly HeadFacts[], columns: number): () => void {
  let at = 0;
  const step = (): boolean => {
    if (at < heads.length) drawOne(on, desk, heads[at], at % columns, Math.floor(at / columns));
    at += 1;
    return at < heads.length;
  };
  return inSlices(step, (goesOn) => {
    if (!goesOn) on.dataset.painted = "drawn";
  });
}

function drawOne(on: HTMLCanvasElement, desk: Desk, { layer: at, head }: HeadFacts, x: number, y: number): void {
  const layer = desk.layer(at);
  if (layer === null) return;
  const small = on.ownerDocument.createElement("canvas");
  const data = pixelsOf(sampled(layer, head, wholeOf(layer), SIDE, SIDE), "sqrt");
  [small.width, small.height] = [data.width, data.height];
  small.getContext("2d")!.putImageData(data, 0, 0);
  const context = on.getContext("2d")!;
  context.imageSmoothingEnabled = false;
  context.drawImage(small, x * SIDE, y * SIDE, SIDE, SIDE);
}
