/** What an origin says, put together again from its own terms alone: it must be the number. */

import { valueAt } from "../src/engine/cells";
import { originOf, type Origin, type Step, type Sum, type Turned } from "../src/engine/origin";
import { stageOf } from "../src/engine/path";
import { SHOWN, type Cell, type Layer, type Stage, type Table } from "../src/engine/record";

function sumOf({ terms, rest, bias, sum }: Sum): number {
  const retold = terms.reduce((so, { a, b }) => so + a * b, 0) + (rest?.sum ?? 0) + (bias ?? 0);
  return isNear(sum, retold) ? retold : NaN;
}

const AFTER: Readonly<Record<Step["kind"], (s: number, by: number) => number>> = {
  root: (s, by) => s / Math.sqrt(by),
  temperature: (s, by) => s / by,
  scale: (s, by) => s * by,
  softcap: (s, by) => by * Math.tanh(s / by),
  bias: (s, by) => s + by,
};

const turnedBack = (part: Turned): number => part.factor * sumOf(part);

/** The value, from what is told and nothing else. */
export function retold(origin: Origin): number {
  switch (origin.kind) {
    case "given":
      return origin.value;
    case "hidden":
      return 0;
    case "allowed":
      return Number(origin.saying.allows);
    case "chained":
      return origin.output + (origin.residual ?? 0) + (origin.code ?? 0);
    case "projected":
    case "dot":
    case "mixed":
      return sumOf(origin);
    case "rotated":
      return turnedBack(origin.own) + turnedBack(origin.partner);
    case "scaled":
      return origin.steps.reduce((s, { kind, by }) => AFTER[kind](s, by), origin.score);
    case "softmax": {
      const told = origin.shares.reduce((sum, share) => sum + Math.exp(share.scaled - origin.top), 0);
      const total = told + (origin.rest?.sum ?? 0) + (origin.sink ? Math.exp(origin.sink.logit - origin.top) : 0);
      return Math.exp(origin.scaled - origin.top) / total;
    }
    case "product":
      return origin.a * origin.b;
    case "joined":
      return origin.mixed + (origin.bias ?? 0);
  }
}

/** Every cell of a stage; of weighted_values, for every query. */
export function cellsOf(layers: readonly Layer[], at: number, stage: Stage): Cell[] {
  const layer = layers[at];
  if (stage === "w_o" && !layer.heads?.w_o) return [];
  const isOfHeads = !["x", "w_q", "w_k", "w_v", "w_o", "output"].includes(stage);
  const found: Cell[] = [];
  for (let head = 0; head < (isOfHeads ? layer.q.heads : 1); head++) {
    const { rows, columns } = stageOf(layer, stage, head);
    for (let place = 0; place < rows * columns; place++) {
      const [row, column] = [Math.floor(place / columns), place % columns];
      const n = layer.k.rows;
      const ofQuery = stage === "weighted_values" ? { row: row % n, query: Math.floor(row / n) } : { row };
      found.push({ layer: at, stage, head, column, ...ofQuery });
    }
  }
  return found;
}

/** Everything that is wrong with the origins of all cells: a sum that does not close, a term that points elsewhere. */
export function originErrors(layers: readonly Layer[]): string[] {
  return layers.flatMap((layer, at) =>
    SHOWN.flatMap((stage) => {
      const cells = cellsOf(layers, at, stage);
      const tables = new Map(
        [...new Set(cells.map(({ head }) => head))].map((head) => [head, stageOf(layer, stage, head)]),
      );
      return cells.flatMap((cell) => errorsOf(layers, cell, tables.get(cell.head) as Table));
    }),
  );
}

function errorsOf(layers: readonly Layer[], cell: Cell, table: Table): string[] {
  const origin = originOf(layers, cell);
  const where = JSON.stringify(cell);
  const row = cell.query === undefined ? cell.row : cell.query * layers[cell.layer].k.rows + cell.row;
  const expected = table.values[row * table.columns + cell.column];
  const wrong: string[] = [];
  if (!isNear(origin.value, expected)) wrong.push(`${where}: ${origin.value} is shown, ${expected} stands there`);
  if (!isNear(retold(origin), expected)) wrong.push(`${where}: adds up to ${retold(origin)}, ${expected} stands there`);
  for (const { from, a, b } of termsOf(origin)) {
    if (valueAt(layers, from[0]) !== a || valueAt(layers, from[1]) !== b)
      wrong.push(`${where}: a term points elsewhere`);
  }
  origin.from.forEach((one) => valueAt(layers, one)); // throws where there is no such cell
  return wrong;
}

function termsOf(origin: Origin) {
  if (origin.kind === "rotated") return [...origin.own.terms, ...origin.partner.terms];
  if (origin.kind === "product") return [origin];
  return "terms" in origin ? origin.terms : [];
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-12 * Math.max(1, Math.abs(b));
}
