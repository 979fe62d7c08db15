/** What becomes of an axis when something on it is added, removed or moved: for each new place the old one. */

import type { Allowed, Bias, PerHead, Table } from "./record";

/** For each place after the edit, the place before it; null: it is new. */
export type Places = readonly (number | null)[];

type Arrangement =
  { add: string; at: number } | { remove: string; at: number } | { move: string; from: number; to: number };

export function placesOf(edit: Arrangement, n: number): Places {
  const places: (number | null)[] = Array.from({ length: n }, (_, at) => at);
  if ("add" in edit) places.splice(edit.at, 0, null);
  else if ("remove" in edit) places.splice(edit.at, 1);
  else places.splice(edit.to, 0, ...places.splice(edit.from, 1));
  return places;
}

/** null for an axis that stays as it is. What is new is 0, but 1 where a new row and a new column meet. */
export function rearranged(table: Table, rows: Places | null, columns: Places | null): Table {
  const [nRows, nColumns] = [rows?.length ?? table.rows, columns?.length ?? table.columns];
  const values = new Float64Array(nRows * nColumns);
  for (let row = 0; row < nRows; row++) {
    for (let column = 0; column < nColumns; column++) {
      const [from, at] = [rows ? rows[row] : row, columns ? columns[column] : column];
      const met = from === null && at === null && row === column;
      values[row * nColumns + column] =
        from !== null && at !== null ? table.values[from * table.columns + at] : met ? 1 : 0;
    }
  }
  return { rows: nRows, columns: nColumns, values };
}

/** A vector along the axis; what is new is 0. */
export function realigned(values: Iterable<number>, places: Places): Float64Array {
  const before = [...values];
  return Float64Array.from(places, (from) => (from === null ? 0 : before[from]));
}

/** The rule after tokens were added, removed or moved. A new token reads all and is read by all that a table names. */
export function allowedFor(allowed: Allowed, places: Places): Allowed {
  switch (allowed.kind) {
    case "padding":
      return { ...allowed, keys: Uint8Array.from(places, (from) => (from === null ? 1 : allowed.keys[from])) };
    case "document":
      return { ...allowed, ids: Int32Array.from(places, (_, at) => allowed.ids[neighbour(places, at)]) };
    case "table": {
      const cells = places.flatMap((query) =>
        places.map((key) => (query === null || key === null ? 1 : allowed.cells[query * allowed.columns + key])),
      );
      return { kind: "table", columns: places.length, cells: Uint8Array.from(cells) };
    }
    case "both":
    case "either":
      return { ...allowed, first: allowedFor(allowed.first, places), second: allowedFor(allowed.second, places) };
    default:
      return allowed;
  }
}

/** The old place of a token, or of the one it stands beside: a new token belongs to its neighbour's document. */
function neighbour(places: Places, at: number): number {
  return places[at] ?? places[at - 1] ?? places[at + 1] ?? 0;
}

/** The bias after tokens were added, removed or moved; only a table names them. A new token has none. */
export function biasFor(bias: Bias | null, places: Places): Bias | null {
  if (bias?.kind === "sum") {
    return { ...bias, first: biasFor(bias.first, places) as Bias, second: biasFor(bias.second, places) as Bias };
  }
  return bias?.kind === "bias_table" ? { kind: "bias_table", array: biasTableFor(bias.array, places) } : bias;
}

function biasTableFor(array: PerHead, places: Places): PerHead {
  const n = places.length;
  const values = new Float64Array(array.heads * n * n).map((_, at) => {
    const [query, key] = [places[Math.floor(at / n) % n], places[at % n]];
    if (query === null || key === null) return 0;
    return array.values[(Math.floor(at / (n * n)) * array.rows + query) * array.width + key];
  });
  return { heads: array.heads, rows: n, width: n, values };
}
