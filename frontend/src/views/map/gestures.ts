/** Wheel, drag, pinch and double click on a map: each gives the next window. */
import type { HTMLAttributes } from "preact";
import { useRef } from "preact/hooks";
import type { Window } from "../../engine/map";
import { placeUnder } from "./surface";
import { inside, isWhole, zoomed, type Place } from "./window";

/** A pointer that moved less is a click. */
const STILL = 4;
const PER_WHEEL = 1.0016;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Gestures {
  readonly window: Window;
  readonly whole: Window;
  readonly look: (window: Window) => void;
  readonly choose: (place: Place) => void;
}

/** Handlers for a canvas. What moves is kept here until it is let go. */
export function useGestures({ window, whole, look, choose }: Gestures): HTMLAttributes<HTMLCanvasElement> {
  const down = useRef(new Map<number, Point>());
  const begun = useRef<{ point: Point; moved: boolean }>({ point: { x: 0, y: 0 }, moved: false });
  const now = useRef(window);
  now.current = window;

  const onPointerDown = (event: PointerEvent): void => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    if (down.current.size === 0) begun.current = { point: pointOf(event), moved: false };
    down.current.set(event.pointerId, pointOf(event));
  };
  const onPointerMove = (event: PointerEvent): void => {
    const before = [...down.current.values()];
    if (!down.current.has(event.pointerId)) return;
    down.current.set(event.pointerId, pointOf(event));
    const { point } = begun.current;
    begun.current.moved ||= before.length > 1 || Math.hypot(event.clientX - point.x, event.clientY - point.y) > STILL;
    if (!begun.current.moved) return;
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    look((now.current = followed(now.current, whole, before, [...down.current.values()], box)));
  };
  const onPointerUp = (event: PointerEvent): void => {
    if (down.current.delete(event.pointerId) && !begun.current.moved) choose(placeUnder(event, now.current));
  };
  return {
    onPointerDown,
    onPointerMove,
    onPointerUp,
    onPointerCancel: (event) => void down.current.delete(event.pointerId),
    onWheel: (event) => {
      const factor = PER_WHEEL ** -(event.deltaY * (event.deltaMode === 1 ? 16 : 1));
      if (factor <= 1 && isWhole(now.current, whole)) return;
      event.preventDefault();
      const [across, downwards] = sharesOf(event);
      look((now.current = zoomed(now.current, factor, whole, across, downwards)));
    },
    onDblClick: (event) => look(zoomed(now.current, event.shiftKey ? 0.5 : 2, whole, ...sharesOf(event))),
  };
}

/** The window after the pointers moved: what was between them fits there, what lay under their middle still does. */
function followed(
  window: Window,
  whole: Window,
  before: readonly Point[],
  after: readonly Point[],
  box: DOMRect,
): Window {
  const [from, to] = [middleOf(before), middleOf(after)];
  const [wide, wider] = [spanOf(before), spanOf(after)];
  const factor = wide > 0 && wider > 0 ? wider / wide : 1;
  const closer = zoomed(window, factor, whole, (from.x - box.left) / box.width, (from.y - box.top) / box.height);
  const row = closer.row - ((to.y - from.y) / box.height) * closer.rows;
  const column = closer.column - ((to.x - from.x) / box.width) * closer.columns;
  return inside({ ...closer, row, column }, whole);
}

function middleOf(points: readonly Point[]): Point {
  const sum = points.reduce((all, { x, y }) => ({ x: all.x + x, y: all.y + y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}

function spanOf(points: readonly Point[]): number {
  return points.length < 2 ? 0 : Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y);
}

function pointOf({ clientX, clientY }: PointerEvent): Point {
  return { x: clientX, y: clientY };
}

/** How far across and down its element an event is, 0 to 1. */
function sharesOf(event: MouseEvent): [number, number] {
  const { left, top, width, height } = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return [(event.clientX - left) / width, (event.clientY - top) / height];
}
