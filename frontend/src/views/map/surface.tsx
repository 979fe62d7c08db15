/** A window of one head's weights on a canvas, with its rulers; chosen and pointed at by mouse, touch and keys. */
import type { HTMLAttributes, JSX, RefObject } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Window } from "../../engine/map";
import { weightAt } from "../../engine/path";
import type { Layer } from "../../engine/record";
import { allowedAt } from "../../engine/rule";
import { number } from "../../explanation/words";
import { placeOf, weightColour, type Mapping } from "../../look/colours";
import { cellSize, lettered, pictured, pixelsOf, spread, topsOf, type Picture, type TopOfRow } from "./paint";
import { LEAST_LABELLED, Ruler } from "./rulers";
import type { Place } from "./window";

/** A side is at most this many pixels of the page. */
const MOST_SIDE = 640;
/** Cells at least so wide have their number in them. */
const LEAST_LETTERED = 36;
const RULERS = { labelled: 92, ticks: 40 };

interface SurfaceGiven {
  readonly layer: Layer;
  readonly head: number;
  readonly window: Window;
  readonly mapping: Mapping;
  readonly chosen: Place;
  readonly name: string;
  readonly describedBy: string;
  /** A cell is no wider than this; none: the window fills the surface. */
  readonly mostCell?: number;
  readonly point: (place: Place | null) => void;
  readonly painted?: (picture: Picture) => void;
  /** What a press, a key or a wheel does is its host's to say. */
  readonly on?: HTMLAttributes<HTMLCanvasElement>;
  readonly canvasRef?: RefObject<HTMLCanvasElement | null>;
  readonly touchAction?: string;
}

export function Surface(given: SurfaceGiven): JSX.Element {
  const { layer, window, chosen } = given;
  const frame = useRef<HTMLDivElement>(null);
  const own = useRef<HTMLCanvasElement>(null);
  const canvas = given.canvasRef ?? own;
  const pointed = useSignal<Place | null>(null);
  const room = useWidth(frame);
  const size = sizeOf(room, given);
  usePainting(canvas, given, size);
  const point = (place: Place | null): void => {
    pointed.value = place;
    given.point(place);
  };
  return (
    <div class="surface" ref={frame} style={{ "--left": `${size.left}px`, "--top": `${size.above}px` }}>
      {size.width > 0 && (
        <>
          <Ruler
            along="across"
            tokens={layer.keyTokens ?? layer.tokens}
            from={window.column}
            cells={window.columns}
            length={size.width}
            chosen={chosen.key}
          />
          <Ruler
            along="down"
            tokens={layer.tokens}
            from={window.row}
            cells={window.rows}
            length={size.height}
            chosen={chosen.query}
          />
        </>
      )}
      <div class="plot" style={{ width: `${size.width}px`, height: `${size.height}px` }}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-label={given.name}
          aria-describedby={given.describedBy}
          style={{ touchAction: given.touchAction ?? "auto" }}
          onPointerMove={(event) => event.pointerType === "mouse" && point(placeUnder(event, window))}
          onPointerLeave={() => point(null)}
          {...given.on}
        />
        <Mark kind="row" place={chosen} window={window} size={size} />
        <Mark kind="cell" place={chosen} window={window} size={size} />
        {pointed.value && <Mark kind="cell pointed" place={pointed.value} window={window} size={size} />}
      </div>
    </div>
  );
}

/** The cell under a pointer, whose target is the canvas. */
export function placeUnder(event: MouseEvent, window: Window): Place {
  const { left, top, width, height } = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const within = (from: number, size: number, share: number): number =>
    Math.floor(from + Math.min(size - 1e-9, Math.max(0, size * share)));
  return {
    query: within(window.row, window.rows, (event.clientY - top) / height),
    key: within(window.column, window.columns, (event.clientX - left) / width),
  };
}

/** Where the arrow keys, Home and End lead from a cell; null for any other key. */
export function placeByKey(event: KeyboardEvent, { query, key }: Place, rows: number, columns: number): Place | null {
  const step = event.shiftKey ? 10 : 1;
  const moves: Record<string, Place> = {
    ArrowUp: { query: query - step, key }, ArrowDown: { query: query + step, key },
    ArrowLeft: { query, key: key - step }, ArrowRight: { query, key: key + step },
    Home: { query, key: 0 }, End: { query, key: columns - 1 },
  };
  const to = moves[event.key];
  if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return null;
  const within = (at: number, n: number): number => Math.max(0, Math.min(at, n - 1));
  return { query: within(to.query, rows), key: within(to.key, columns) };
}

interface Size {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly above: number;
}

function sizeOf(room: number, { window, mostCell = Infinity }: SurfaceGiven): Size {
  const most = Math.min(MOST_SIDE, room - RULERS.labelled, mostCell * window.columns);
  const isLabelled = most / window.columns >= LEAST_LABELLED;
  const left = isLabelled ? RULERS.labelled : RULERS.ticks;
  const width = Math.max(0, Math.floor(Math.min(MOST_SIDE, room - left, mostCell * window.columns)));
  const height = Math.max(24, Math.min(MOST_SIDE, (width * window.rows) / window.columns));
  return { width, height: width === 0 ? 0 : Math.floor(height), left, above: isLabelled ? 80 : 24 };
}

function useWidth(of: RefObject<HTMLElement | null>): number {
  const width = useSignal(0);
  useEffect(() => {
    const element = of.current!;
    width.value = element.clientWidth;
    const watching = new ResizeObserver(() => (width.value = element.clientWidth));
    watching.observe(element);
    return () => watching.disconnect();
  }, []);
  return width.value;
}

function usePainting(canvas: RefObject<HTMLCanvasElement | null>, given: SurfaceGiven, size: Size): void {
  const { width, height } = size;
  const { layer, head, window, mapping } = given;
  useEffect(() => {
    const on = canvas.current!;
    if (width === 0) return undefined;
    const density = Math.min(2, on.ownerDocument.defaultView?.devicePixelRatio ?? 1);
    let again = 0;
    const show = (picture: Picture): void => {
      cancelAnimationFrame(again);
      [on.width, on.height] = [width * density, height * density];
      if (draw(on, given, picture, density) > 0) again = requestAnimationFrame(() => show(picture));
    };
    const stop = pictured({ layer, head, window }, width, height, show);
    return () => {
      stop();
      cancelAnimationFrame(again);
    };
  }, [layer, head, mapping, width, height, window.row, window.rows, window.column, window.columns]);
}

/** Returns how many rows are not in their own colours yet. */
function draw(on: HTMLCanvasElement, given: SurfaceGiven, picture: Picture, density: number): number {
  const { window, mapping } = given;
  const { top, missing } = topsOf(given, picture);
  spread(on, pixelsOf(picture.image, mapping, top), picture.covers, window);
  if (cellSize(on, window).across >= LEAST_LETTERED * density) letter(on, given, picture, top, density);
  on.dataset.painted = picture.image.exact && missing() === 0 ? "exact" : "sampled";
  given.painted?.(picture);
  return missing();
}

function letter(on: HTMLCanvasElement, given: SurfaceGiven, picture: Picture, top: TopOfRow, density: number): void {
  const { layer, head, window, mapping } = given;
  const { image: { values, width }, covers } = picture;
  const isRoomy = cellSize(on, window).across >= 2 * LEAST_LETTERED * density;
  lettered(on, window, covers, density, (row, column) => {
    const [query, key] = [covers.row + row, covers.column + column];
    if (!allowedAt(layer.rule.allowed, query, key)) return null;
    const weight = weightAt(layer, head, query, key);
    const text = isRoomy || weight === 0 || weight >= 0.0005 ? number(weight) : "<.001";
    return { text, on: weightColour(placeOf(values[row * width + column], mapping, top(row))) };
  });
}

interface MarkGiven {
  readonly kind: string;
  readonly place: Place;
  readonly window: Window;
  readonly size: Size;
}

function Mark({ kind, place, window, size }: MarkGiven): JSX.Element | null {
  const { across, down } = cellSize(size, window);
  const [left, top] = [(place.key - window.column) * across, (place.query - window.row) * down];
  const isRow = kind === "row";
  if (top + down <= 0 || top >= size.height || (!isRow && (left + across <= 0 || left >= size.width))) return null;
  const style = isRow
    ? { left: "0", width: "100%", top: `${top}px`, height: `${down}px` }
    : { left: `${left}px`, width: `${across}px`, top: `${top}px`, height: `${down}px` };
  return <div class={`mark ${kind}`} style={style} />;
}
