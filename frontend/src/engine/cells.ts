/** The number that stands in a cell. A cell's head is the head that asks, for k and v too, which several may share. */

import { kvHeadOf, NotHere, outputRowOf, rowOf, scaledAt, scoreAt, weightAt } from "./path";
import type { Cell, Layer, PerHead, Stage, Table } from "./record";
import { allowedAt } from "./rule";

type Reader = (layer: Layer, cell: Cell) => number | undefined;

const READERS: Readonly<Record<Stage, Reader>> = {
  x: (layer, cell) => inTable(layer.x, cell),
  w_q: (layer, cell) => inTable(layer.heads?.w_q, cell),
  w_k: (layer, cell) => inTable(layer.heads?.w_k, cell),
  w_v: (layer, cell) => inTable(layer.heads?.w_v, cell),
  w_o: (layer, cell) => inTable(layer.heads?.w_o, cell),
  q: (layer, cell) => inHead(layer.q, cell.head, cell),
  k: (layer, cell) => inHead(layer.k, kvHeadOf(layer, cell.head), cell),
  v: (layer, cell) => inHead(layer.v, kvHeadOf(layer, cell.head), cell),
  scores: ofPair((layer, { head, row, column }) => scoreAt(layer, head, row, column)),
  scaled: ofPair((layer, { head, row, column }) => scaledAt(layer, head, row, column)),
  allowed: ofPair((layer, { row, column }) => Number(allowedAt(layer.rule.allowed, row, column))),
  weights: ofPair((layer, { head, row, column }) => weightAt(layer, head, row, column)),
  weighted_values: (layer, cell) => {
    const [query, value] = [cell.query ?? -1, inHead(layer.v, kvHeadOf(layer, cell.head), cell)];
    return value === undefined || !isPlace(query, layer.q.rows)
      ? undefined
      : weightAt(layer, cell.head, query, cell.row) * value;
  },
  mixed: ofQuery((layer, { head, row, column }) => rowOf(layer, head, row).mixed?.[column]),
  output: ofQuery((layer, { row, column }) => outputRowOf(layer, row)?.[column]),
};

/** Errors: `NotHere` where there is no such cell, or its numbers did not travel. */
export function valueAt(layers: readonly Layer[], cell: Cell): number {
  const layer = layers[cell.layer];
  const value = layer && isPlace(cell.head, layer.q.heads) ? READERS[cell.stage](layer, cell) : undefined;
  if (value === undefined) throw new NotHere(cell.stage);
  return value;
}

/** Whether a cell is there to be pointed at. */
export function hasCell(layers: readonly Layer[], cell: Cell): boolean {
  const layer = layers[cell.layer];
  return layer !== undefined && isPlace(cell.head, layer.q.heads) && READERS[cell.stage](layer, cell) !== undefined;
}

function isPlace(at: number, n: number): boolean {
  return Number.isInteger(at) && at >= 0 && at < n;
}

function inTable(table: Table | null | undefined, { row, column }: Cell): number | undefined {
  return table && isPlace(row, table.rows) && isPlace(column, table.columns)
    ? table.values[row * table.columns + column]
    : undefined;
}

function inHead(array: PerHead | null, head: number, { row, column }: Cell): number | undefined {
  if (!array || !isPlace(row, array.rows) || !isPlace(column, array.width)) return undefined;
  return array.values[(head * array.rows + row) * array.width + column];
}

function ofPair(reader: Reader): Reader {
  return (layer, cell) =>
    isPlace(cell.row, layer.q.rows) && isPlace(cell.column, layer.k.rows) ? reader(layer, cell) : undefined;
}

function ofQuery(reader: Reader): Reader {
  return (layer, cell) => (isPlace(cell.row, layer.q.rows) ? reader(layer, cell) : undefined);
}
