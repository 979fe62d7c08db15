/** What is on the road from X to the output: which tables a layer has, which part of each is shown, and its numbers. */
import { kvHeadOf, namesOf, outputRowOf, rowOf, weightedValuesOf, type Row } from "../../engine/path";
import type { Cell, Layer, Numbers, PerHead, Stage, Table, Token } from "../../engine/record";

/** Where the walk stops. */
export const STOPS = [
  "x", "q", "k", "v", "scores", "scaled", "allowed", "weights", "weighted_values", "mixed", "output",
] as const satisfies readonly Stage[];
export type Stop = (typeof STOPS)[number];

/** Beyond so many tokens a part of them is shown; beyond so many dimensions the first few, where nobody asked for all. */
const MANY_TOKENS = 32;
const TOKENS_SHOWN = 12;
const KEYS_BY_WEIGHT = 5;
export const MANY_DIMENSIONS = 16;
const DIMENSIONS_SHOWN = 8;

/** One place on an axis: its position in the record, and the token or the dimension that stands there. */
export interface Place {
  readonly at: number;
  readonly token: Token | null;
  readonly name: string | number | HeadDimension;
}

/** A column of several heads side by side. */
export interface HeadDimension {
  readonly head: number;
  readonly number: number;
}

export interface Axis {
  readonly kind: "query" | "key" | "dimension";
  readonly places: readonly Place[];
  /** How many there are in the record. */
  readonly n: number;
}

/** One table on the road. */
export interface Grid {
  readonly layer: number;
  readonly stage: Stage;
  readonly head: number;
  readonly query: number | undefined;
  readonly rows: Axis;
  readonly columns: Axis;
  /** Row by row, as shown. */
  readonly values: Float64Array;
  /** As `values`, 1 where the mask hides a weight; null for other stages. */
  readonly hidden: Uint8Array | null;
  /** For weights of which a part is shown: what the keys left out come to, for each row. */
  readonly rest: Float64Array | null;
}

/** What is looked at. */
export interface Looked {
  readonly at: number;
  readonly head: number;
  readonly query: number;
  readonly key: number;
  readonly allDimensions: boolean;
}

/** The stops that a layer has. */
export function stopsOf(layer: Layer): Stop[] {
  const has: Record<Stop, boolean> = {
    x: layer.x !== null, q: true, k: true, v: layer.v !== null,
    scores: true, scaled: true, allowed: true, weights: true,
    weighted_values: layer.v !== null, mixed: layer.v !== null, output: layer.v !== null && hasOutput(layer),
  };
  return STOPS.filter((stop) => has[stop]);
}

/** Whether the output is more than the weighted sum of one head. */
function hasOutput(layer: Layer): boolean {
  return layer.q.heads > 1 || !!layer.heads?.w_o || !!layer.heads?.b_o;
}

/** Where the walk stops for a stage: a matrix stands beside what it makes, and the output may be the weighted sum. */
export function stopOf(layer: Layer, stage: Stage): Stop {
  const beside: Partial<Record<Stage, Stop>> = { w_q: "q", w_k: "k", w_v: "v", w_o: "output" };
  const stop = beside[stage] ?? (stage as Stop);
  const stops = stopsOf(layer);
  if (stops.includes(stop)) return stop;
  return stop === "output" && stops.includes("mixed") ? "mixed" : stops[0];
}

/** Every table of the layer, in the order of the road; of the stages in `kept` those that are there. */
export function gridsOf(layer: Layer, looked: Looked, kept: ReadonlyMap<Stage, Grid>): Map<Stage, Grid> {
  const shown = axesOf(layer, looked);
  return new Map(stagesOf(layer).map((stage) => [stage, kept.get(stage) ?? gridOf(layer, stage, looked, shown)]));
}

/** The stages that have a table. */
export function stagesOf(layer: Layer): Stage[] {
  return stopsOf(layer).flatMap((stop) => [...matrixOf(layer, stop), stop]);
}

function matrixOf(layer: Layer, stop: Stop): Stage[] {
  if (!layer.heads) return [];
  if (stop === "q" || stop === "k" || stop === "v") return layer.x ? [`w_${stop}`] : [];
  return stop === "output" && layer.heads.w_o ? ["w_o"] : [];
}

// axes ---------------------------------------------------------------------------------------------

interface Axes {
  readonly queries: Axis;
  readonly keys: Axis;
  readonly dimensions: (n: number, names: readonly string[] | null, first?: number) => Axis;
}

function axesOf(layer: Layer, looked: Looked): Axes {
  const { tokens } = layer;
  const keyTokens = layer.keyTokens ?? tokens;
  const isLarge = isWindowed(layer);
  const keys = isLarge ? keysShown(layer, looked) : keyTokens.map((_, at) => at);
  const queries = !isLarge ? tokens.map((_, at) => at) : layer.keyTokens ? near([looked.query], tokens.length) : keys;
  const axis = (kind: "query" | "key", of: readonly Token[], places: readonly number[]): Axis => {
    return { kind, n: of.length, places: places.map((at) => ({ at, token: of[at], name: of[at].label.text })) };
  };
  return {
    queries: axis("query", tokens, queries),
    keys: axis("key", keyTokens, keys),
    dimensions: (n, names, first = 0) => {
      const width = n > MANY_DIMENSIONS && !looked.allDimensions ? DIMENSIONS_SHOWN : n;
      const places = Array.from({ length: width }, (_, at) => ({ at: first + at, token: null, name: names?.[at] ?? at }));
      return { kind: "dimension", n, places };
    },
  };
}

/** Whether a layer is too long for all of its tokens to be shown. */
export function isWindowed(layer: Layer): boolean {
  return Math.max(layer.q.rows, layer.k.rows) > MANY_TOKENS;
}

/** The chosen query and key, the keys with the largest weights, and the nearest neighbours of the query. */
function keysShown(layer: Layer, { head, query, key }: Looked): number[] {
  const { weights } = rowOf(layer, head, query);
  const order = Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a] || a - b);
  const chosen = layer.keyTokens ? [key] : [query, key];
  return near([...chosen, ...order.slice(0, KEYS_BY_WEIGHT)], layer.k.rows);
}

/** These places, and so many of those around the first that twelve are shown, in order. */
function near(wanted: readonly number[], n: number): number[] {
  const kept = new Set(wanted);
  for (let away = 1; kept.size < Math.min(n, TOKENS_SHOWN) && away < n; away++) {
    for (const at of [wanted[0] - away, wanted[0] + away]) {
      if (at >= 0 && at < n && kept.size < TOKENS_SHOWN) kept.add(at);
    }
  }
  return [...kept].sort((a, b) => a - b);
}

function sidesOf(layer: Layer, stage: Stage, head: number, { queries, keys, dimensions }: Axes): [Axis, Axis] {
  const ofX = (): Axis => dimensions(layer.x!.columns, namesOf(layer, "x"));
  const ofQ = (first = 0): Axis => dimensions(layer.q.width, namesOf(layer, "q"), first);
  const ofV = (first = 0): Axis => dimensions(layer.v!.width, namesOf(layer, "v"), first);
  const group = kvHeadOf(layer, head);
  switch (stage) {
    case "x":
      return [queries, ofX()];
    case "w_q":
      return [ofX(), ofQ(head * layer.q.width)];
    case "w_k":
      return [ofX(), ofQ(group * layer.q.width)];
    case "w_v":
      return [ofX(), ofV(group * layer.v!.width)];
    case "w_o":
      return [joined(layer, dimensions), outputAxis(layer, dimensions)];
    case "q":
      return [queries, ofQ()];
    case "k":
      return [keys, ofQ()];
    case "v":
    case "weighted_values":
      return [keys, ofV()];
    case "mixed":
      return [queries, ofV()];
    case "output":
      return [queries, outputAxis(layer, dimensions)];
    default:
      return [queries, keys];
  }
}

/** The dimensions of all heads side by side. */
function joined(layer: Layer, dimensions: Axes["dimensions"]): Axis {
  const width = layer.v!.width;
  if (layer.q.heads === 1) return dimensions(width, namesOf(layer, "v"));
  const axis = dimensions(layer.q.heads * width, null);
  const named = (at: number): HeadDimension => ({ head: Math.floor(at / width), number: (at % width) + 1 });
  return { ...axis, places: axis.places.map((place) => ({ ...place, name: named(place.at) })) };
}

function outputAxis(layer: Layer, dimensions: Axes["dimensions"]): Axis {
  const names = namesOf(layer, "output");
  if (layer.heads?.w_o) return dimensions(layer.heads.w_o.columns, names);
  return names ? dimensions(names.length, names) : joined(layer, dimensions);
}

// numbers ------------------------------------------------------------------------------------------

function gridOf(layer: Layer, stage: Stage, looked: Looked, axes: Axes): Grid {
  const { at, head, query } = looked;
  const [rows, columns] = sidesOf(layer, stage, head, axes);
  const width = columns.places.length;
  const values = new Float64Array(rows.places.length * width);
  const hidden = stage === "weights" ? new Uint8Array(values.length) : null;
  rows.places.forEach((row, r) => {
    const line = lineOf(layer, stage, head, query, row.at);
    columns.places.forEach((column, c) => (values[r * width + c] = line(column.at)));
    if (hidden === null) return;
    const { allowed } = rowsOf(layer, head, row.at);
    columns.places.forEach((column, c) => (hidden[r * width + c] = 1 - allowed[column.at]));
  });
  const isPart = stage === "weights" && width < columns.n;
  const rest = isPart ? Float64Array.from(rows.places, ({ at: row }) => restOf(rowsOf(layer, head, row), columns)) : null;
  return {
    layer: at, stage, head: isOfHead(stage) ? head : 0, query: stage === "weighted_values" ? query : undefined,
    rows, columns, values, hidden, rest,
  };
}

function isOfHead(stage: Stage): boolean {
  return !["x", "w_q", "w_k", "w_v", "w_o", "allowed", "output"].includes(stage);
}

function restOf(row: Row, shown: Axis): number {
  const places = new Set(shown.places.map(({ at }) => at));
  return row.weights.reduce((sum, weight, key) => (places.has(key) ? sum : sum + weight), 0);
}

const kept = new WeakMap<Layer, Map<string, Row>>();

/** One query against every key, made once for a layer. */
export function rowsOf(layer: Layer, head: number, query: number): Row {
  let rows = kept.get(layer);
  if (!rows) kept.set(layer, (rows = new Map()));
  const name = `${head},${query}`;
  let row = rows.get(name);
  if (!row) rows.set(name, (row = rowOf(layer, head, query)));
  return row;
}

type Line = (column: number) => number;

/** One row of a stage. */
function lineOf(layer: Layer, stage: Stage, head: number, query: number, row: number): Line {
  const { heads, x, q, k, v } = layer;
  switch (stage) {
    case "x":
      return inTable(x!, row);
    case "w_q":
    case "w_k":
    case "w_v":
    case "w_o":
      return inTable(heads![stage]!, row);
    case "q":
      return inHead(q, head, row);
    case "k":
      return inHead(k, kvHeadOf(layer, head), row);
    case "v":
      return inHead(v!, kvHeadOf(layer, head), row);
    case "weighted_values":
      return inTable(valuesFor(layer, head, query), row);
    case "output":
      return at(outputRowOf(layer, row)!);
    default:
      return at(rowsOf(layer, head, row)[stage]!);
  }
}

const given = new WeakMap<Row, Table>();

function valuesFor(layer: Layer, head: number, query: number): Table {
  const row = rowsOf(layer, head, query);
  let table = given.get(row);
  if (!table) given.set(row, (table = weightedValuesOf(layer, head, query)));
  return table;
}

function at(values: Numbers | Uint8Array): Line {
  return (column) => values[column];
}

function inTable({ columns, values }: Table, row: number): Line {
  return (column) => values[row * columns + column];
}

function inHead({ rows, width, values }: PerHead, head: number, row: number): Line {
  return (column) => values[(head * rows + row) * width + column];
}

// cells --------------------------------------------------------------------------------------------

/** The cell of the record that is shown at a place of a table. */
export function cellAt(grid: Grid, row: number, column: number): Cell {
  const { layer, stage, head, query, rows, columns } = grid;
  const cell = { layer, stage, head, row: rows.places[row].at, column: columns.places[column].at };
  return query === undefined ? cell : { ...cell, query };
}

/** A name for a cell, to find it again. Head and query are those that are looked at, so only the place is in it. */
export function placeIn(cell: Cell): string {
  return `${cell.row},${cell.column}`;
}

/** Whether two cells hold the same number. */
export function isSame(a: Cell | null, b: Cell | null): boolean {
  if (a === null || b === null) return a === b;
  return (["layer", "stage", "head", "row", "column", "query"] as const).every((part) => a[part] === b[part]);
}
