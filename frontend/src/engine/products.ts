/** Sums of products, in doubles. */

import type { Numbers, Table } from "./record";

/** a · b, from these places on. */
export function dot(a: Numbers, atA: number, b: Numbers, atB: number, width: number): number {
  let sum = 0;
  for (let i = 0; i < width; i++) sum += a[atA + i] * b[atB + i];
  return Number.isFinite(sum) ? sum : smallDot(a, atA, b, atB, width);
}

/** One row with each of the rows that begin at `at`, as many as `into` holds: what `dot` gives for each, to the bit. */
export function dots(row: Numbers, rows: Numbers, at: number, into: Float64Array): void {
  const width = row.length;
  let i = 0;
  // Four at once: their additions need not wait for each other.
  for (; i + 4 <= into.length; i += 4, at += 4 * width) {
    let [s0, s1, s2, s3] = [0, 0, 0, 0];
    const at1 = at + width;
    const at2 = at1 + width;
    const at3 = at2 + width;
    for (let j = 0; j < width; j++) {
      const a = row[j];
      s0 += a * rows[at + j];
      s1 += a * rows[at1 + j];
      s2 += a * rows[at2 + j];
      s3 += a * rows[at3 + j];
    }
    into[i] = s0;
    into[i + 1] = s1;
    into[i + 2] = s2;
    into[i + 3] = s3;
    if (!Number.isFinite(s0 + s1 + s2 + s3)) break;
  }
  for (; i < into.length; i++, at += width) into[i] = dot(row, 0, rows, at, width);
}

/** a · b where a sum on the way overflows although the whole fits: made small first, by a power of two, exactly. */
function smallDot(a: Numbers, atA: number, b: Numbers, atB: number, width: number): number {
  let sum = 0;
  for (let i = 0; i < width; i++) sum += a[atA + i] * 2 ** -500 * (b[atB + i] * 2 ** -500);
  return sum * 2 ** 500 * 2 ** 500;
}

/** One row through a table: (rows,) · (rows, columns). */
export function throughTable(row: Numbers, table: Table): Float64Array {
  const { rows, columns, values } = table;
  const product = new Float64Array(columns);
  for (let i = 0, at = 0; i < rows; i++, at += columns) {
    for (let column = 0; column < columns; column++) product[column] += row[i] * values[at + column];
  }
  return product;
}
