/** Which rows of the table are shown, and in what order. */
import type { Column, Measured, Verdict } from "./measured";
import { VERDICTS } from "./measured";

/** Columns by which the table can be ordered; an interval goes by its lower end. */
export const SORTS = [
  "card", "role", "score", "with_sink", "without_sink", "n_cases", "baseline", "difference", "low", "q", "verdict", "way",
] as const satisfies readonly Column[];
export type Sort = (typeof SORTS)[number];

export interface Asked {
  /** Place of a role; −1 for all. */
  readonly role: number;
  /** −1 for all. */
  readonly layer: number;
  readonly verdict: Verdict | null;
  readonly sort: Sort;
  readonly isDown: boolean;
}

/** The rows that are asked for, in order. Rows that have no number in the column come last either way. */
export function ordered({ told, columns }: Measured, asked: Asked): Uint32Array {
  const { card, role, verdict } = columns;
  const wanted = asked.verdict === null ? -1 : VERDICTS.indexOf(asked.verdict);
  const rows = new Uint32Array(told.n_rows);
  let n = 0;
  for (let row = 0; row < told.n_rows; row += 1) {
    const isIn =
      (asked.role < 0 || role[row] === asked.role) &&
      (asked.layer < 0 || told.cards[card[row]].layer === asked.layer) &&
      (wanted < 0 || verdict[row] === wanted);
    if (isIn) rows[n++] = row;
  }
  return rows.subarray(0, n).sort(comparing(columns[asked.sort], columns.way, asked.isDown));
}

/** By a column; equal ones by how far they have come, then as they stand in the table. */
function comparing(values: ArrayLike<number>, way: ArrayLike<number>, isDown: boolean): (a: number, b: number) => number {
  const sign = isDown ? -1 : 1;
  return (a, b) => {
    const [one, other] = [values[a], values[b]];
    if (one !== other) {
      if (Number.isNaN(one) || Number.isNaN(other)) return (Number(Number.isNaN(one)) - Number(Number.isNaN(other))) || a - b;
      return sign * (one - other);
    }
    return way[b] - way[a] || a - b;
  };
}
