/** Which numbers an edit changed: for marking cells, with what stood there before. */

import { namesOf, NotHere, stageOf, weightedValuesOf } from "./path";
import type { Cell, Layer, Stage, Table } from "./record";
import { identityOf } from "./token_edits";

/** A number that is another one now. */
export interface Change {
  readonly cell: Cell;
  readonly before: number;
  readonly after: number;
}

/** A stage of a head; of weighted_values, what one query takes. */
type Of = Omit<Cell, "row" | "column">;

/** The place before of a place now; null: it is new, or nobody can say. */
type Origin = (at: number) => number | null;

/** Numbers are the same that differ only by rounding: a sum over one more dimension is rounded otherwise. */
const SAME = 1e-12;
const GIVEN: readonly Stage[] = ["x", "w_q", "w_k", "w_v", "w_o"];

/** The changes from one state of the same layers to another; asked for cell by cell, or a stage of a head at once. */
export class Changes {
  private readonly tokens: Origin;
  private readonly widths = new Map<string, Origin>();
  private readonly tables = new Map<string, Table | null>();

  constructor(
    private readonly before: readonly Layer[],
    private readonly after: readonly Layer[],
  ) {
    this.tokens = matched(before[0].tokens.map(identityOf), after[0].tokens.map(identityOf));
  }

  /** The change of a cell (as it stands now), or null where it is what it was, or is new. */
  at(cell: Cell): Change | null {
    return this.in(cell)(cell.row, cell.column);
  }

  /** All changes in a stage of a head; of weighted_values, in what one query takes. */
  of(layer: number, stage: Stage, head = 0, query?: number): Change[] {
    if (query === undefined && stage === "weighted_values") throw new RangeError("weighted_values of which query?");
    const from: Of = { layer, stage, head, ...(query === undefined ? {} : { query }) };
    const { rows, columns } = this.tableOf("after", from) ?? { rows: 0, columns: 0 };
    const changeAt = this.in(from);
    const all = Array.from({ length: rows * columns }, (_, at) => changeAt(Math.floor(at / columns), at % columns));
    return all.filter((change) => change !== null);
  }

  /** The change of each cell of a stage: its tables are found once, since all of its cells are asked for. */
  in({ layer, stage, head, query }: Of): (row: number, column: number) => Change | null {
    const from: Of = { layer, stage, head, ...(query === undefined ? {} : { query }) };
    const asked = query === undefined ? undefined : this.tokens(query);
    const was = asked === null ? null : this.tableOf("before", { ...from, query: asked });
    const is = this.tableOf("after", from);
    if (!was || !is) return () => null;
    const [rowOf, columnOf] = this.axesOf(from);
    return (row, column) => {
      const before = numberIn(was, rowOf(row), columnOf(column));
      const after = numberIn(is, row, column);
      if (before === null || after === null || isSame(before, after, stage)) return null;
      return { cell: { ...from, row, column }, before, after };
    };
  }

  /** A stage, computed once; null where there is none. */
  private tableOf(when: "before" | "after", { layer, stage, head, query }: Of): Table | null {
    const key = `${when} ${layer} ${stage} ${head} ${query}`;
    let table = this.tables.get(key);
    if (table === undefined) {
      const made = this[when][layer];
      table = made ? stageOrNone(made, stage, head, query) : null;
      this.tables.set(key, table);
    }
    return table;
  }

  /** Where the rows and the columns stood before, by their tokens and dimensions. */
  private axesOf({ layer, stage }: Of): [Origin, Origin] {
    const width = (what: "x" | "q" | "k" | "v" | "output") => this.widthOf(layer, what);
    switch (stage) {
      case "w_q":
      case "w_k":
      case "w_v":
        return [width("x"), width(stage === "w_v" ? "v" : "q")];
      case "w_o":
        return [width("v"), width("output")];
      case "scores":
      case "scaled":
      case "allowed":
      case "weights":
        return [this.tokens, this.tokens];
      case "weighted_values":
      case "mixed":
        return [this.tokens, width("v")];
      default:
        return [this.tokens, width(stage)];
    }
  }

  private widthOf(layer: number, what: "x" | "q" | "k" | "v" | "output"): Origin {
    const key = `${layer} ${what}`;
    const known = this.widths.get(key);
    if (known) return known;
    const [before, after] = [this.before[layer], this.after[layer]];
    const names = before && after ? [namesOf(before, what), namesOf(after, what)] : [null, null];
    const made =
      names[0] && names[1] ? orRenamed(names[0], names[1]) : alike(sizeOf(before, what), sizeOf(after, what));
    this.widths.set(key, made);
    return made;
  }
}

function stageOrNone(layer: Layer, stage: Stage, head: number, query: number | undefined): Table | null {
  try {
    return query === undefined ? stageOf(layer, stage, head) : weightedValuesOf(layer, head, query);
  } catch (error) {
    if (error instanceof NotHere) return null;
    throw error;
  }
}

function sizeOf(layer: Layer | undefined, what: "x" | "q" | "k" | "v" | "output"): number {
  if (!layer) return -1;
  if (what === "x") return layer.x?.columns ?? -1;
  if (what === "output") return layer.heads?.w_o?.columns ?? layer.q.heads * (layer.v?.width ?? 0);
  return layer[what]?.width ?? -1;
}

/** Places that have no names are the same ones where there are as many. */
function alike(before: number, after: number): Origin {
  return before === after ? (at) => at : () => null;
}

/** For each thing its place before, wherever it stands now; no thing stands twice. */
export function matched(before: readonly unknown[], after: readonly unknown[]): Origin {
  const found = after.map((one) => before.indexOf(one));
  return (at) => (found[at] >= 0 ? found[at] : null);
}

/** Names that are all known but one or some that stand where others stood: these were renamed. */
function orRenamed(before: readonly string[], after: readonly string[]): Origin {
  const found = matched(before, after);
  return (at) => found(at) ?? (before.length === after.length && !after.includes(before[at]) ? at : null);
}

function numberIn({ rows, columns, values }: Table, row: number | null, column: number | null): number | null {
  if (row === null || column === null || row >= rows || column >= columns) return null;
  return values[row * columns + column];
}

function isSame(before: number, after: number, stage: Stage): boolean {
  if (GIVEN.includes(stage) && before !== after) return Math.abs(before - after) <= SAME * Math.abs(before);
  return Math.abs(before - after) <= SAME * Math.max(1, Math.abs(before), Math.abs(after));
}

/** The changes between two states of the same layers. */
export function changes(before: readonly Layer[], after: readonly Layer[]): Changes {
  return new Changes(before, after);
}
