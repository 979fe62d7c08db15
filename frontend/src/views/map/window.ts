/** The part of a map that is seen: zooming and moving it, in cells. Nothing here draws. */
import type { Window } from "../../engine/map";
import type { Layer } from "../../engine/record";

export interface Place {
  readonly query: number;
  readonly key: number;
}

export function wholeOf(layer: Layer): Window {
  return { row: 0, rows: layer.q.rows, column: 0, columns: layer.k.rows };
}

/** The same window with its edges inside of the map, and no less than one cell of it. */
export function inside(window: Window, whole: Window): Window {
  const [row, rows] = spanIn(window.row, window.rows, whole.rows);
  const [column, columns] = spanIn(window.column, window.columns, whole.columns);
  return { row, rows, column, columns };
}

function spanIn(from: number, size: number, all: number): [number, number] {
  const fits = Math.min(all, Math.max(1, size));
  const start = fits === 1 ? Math.floor(from + (size - 1) / 2 + 0.5) : from;
  return [Math.min(all - fits, Math.max(0, start)), fits];
}

/** Closer by a factor above 1, further by one below; the point at these shares of the window stays where it is. */
export function zoomed(window: Window, factor: number, whole: Window, acrossShare = 0.5, downShare = 0.5): Window {
  const rows = Math.min(whole.rows, Math.max(1, window.rows / factor));
  const columns = Math.min(whole.columns, Math.max(1, window.columns / factor));
  const row = window.row + (window.rows - rows) * downShare;
  const column = window.column + (window.columns - columns) * acrossShare;
  return inside({ row, rows, column, columns }, whole);
}

/** Closer, around the middle of a cell. */
export function zoomedTo(window: Window, factor: number, whole: Window, { query, key }: Place): Window {
  const [down, across] = [(query + 0.5 - window.row) / window.rows, (key + 0.5 - window.column) / window.columns];
  const isSeen = down >= 0 && down <= 1 && across >= 0 && across <= 1;
  if (isSeen) return zoomed(window, factor, whole, across, down);
  return zoomed(around(window, whole, { query, key }), factor, whole);
}

/** A window of the same size with this cell in its middle. */
export function around(window: Window, whole: Window, { query, key }: Place): Window {
  const row = query + 0.5 - window.rows / 2;
  const column = key + 0.5 - window.columns / 2;
  return inside({ ...window, row, column }, whole);
}

/** The window moved just so far that the cell is all in it. */
export function reaching(window: Window, whole: Window, { query, key }: Place): Window {
  const row = reached(window.row, window.rows, query);
  const column = reached(window.column, window.columns, key);
  return inside({ ...window, row, column }, whole);
}

function reached(from: number, size: number, at: number): number {
  return Math.min(at, Math.max(at + 1 - size, from));
}

export function isWhole(window: Window, whole: Window): boolean {
  return window.rows >= whole.rows && window.columns >= whole.columns;
}
