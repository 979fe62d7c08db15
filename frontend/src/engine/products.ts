/** Sums of products, in doubles. */

import type { Numbers, Table } from "./record";

/** a · b from these places on. Four sums at once, so that one addition need not wait for the last. */
export function dot(a: Numbers, atA: number, b: Numbers, atB: number, width: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  const fours = width - (width % 4);
  for (let i = 0; i < fours; i += 4) {
    s0 += a[atA + i] * b[atB + i];
    s1 += a[atA + i + 1] * b[atB + i + 1];
    s2 += a[atA + i + 2] * b[atB + i + 2];
    s3 += a[atA + i + 3] * b[atB + i + 3];
  }
  for (let i = fours; i < width; i++) s0 += a[atA + i] * b[atB + i];
  const sum = s0 + s1 + (s2 + s3);
  return Number.isFinite(sum) ? sum : smallDot(a, atA, b, atB, width);
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
