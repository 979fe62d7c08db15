/** Orders and sums of a row of numbers; of equal ones the earlier comes first, as with Python's stable sorts. */

import type { Numbers, PerHead, Table } from "../engine/record";
import type { Dim, Term } from "./words";

const MOST_TERMS = 8; // products told one by one

export function rowOfHead(array: PerHead, head: number, row: number): Numbers {
  const at = (head * array.rows + row) * array.width;
  return array.values.subarray(at, at + array.width);
}

export function rowOfTable(table: Table, row: number): Numbers {
  return table.values.subarray(row * table.columns, (row + 1) * table.columns);
}

export function isZero(vector: ArrayLike<number>): boolean {
  for (let i = 0; i < vector.length; i++) if (vector[i] !== 0) return false;
  return true;
}

export function sum(numbers: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < numbers.length; i++) total += numbers[i];
  return total;
}

/** The largest less the smallest. */
export function spread(numbers: Iterable<number>): number {
  let [low, high] = [Infinity, -Infinity];
  for (const a of numbers) {
    low = Math.min(low, a);
    high = Math.max(high, a);
  }
  return high - low;
}

/** The places of the largest numbers, the largest first: in one pass, since few are wanted of many. */
export function largest(numbers: ArrayLike<number>, count: number, size = (number: number) => number): number[] {
  const best: number[] = [];
  const sizes: number[] = [];
  for (let i = 0; i < numbers.length; i++) {
    const mine = size(numbers[i]);
    if (best.length === count && !(mine > sizes[count - 1])) continue;
    let at = best.length;
    while (at > 0 && mine > sizes[at - 1]) at--;
    best.splice(at, 0, i);
    sizes.splice(at, 0, mine);
    best.length = sizes.length = Math.min(count, best.length);
  }
  return best;
}

/** All places, the largest number first. */
export function descending(numbers: ArrayLike<number>): number[] {
  return Array.from(numbers, (_, at) => at).sort((a, b) => numbers[b] - numbers[a]);
}

/** As numpy.allclose with rtol 1e-12 and atol 0. */
export function isClose(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  const isNear = (one: number, at: number) => Math.abs(one - b[at]) <= 1e-12 * Math.abs(b[at]);
  return a.length === b.length && Array.from(a).every(isNear);
}

/** The dimensions that are not 0, the largest first. */
export function dimsOf(vector: ArrayLike<number>, names: readonly string[]): Dim[] {
  return descending(Array.from(vector, Math.abs))
    .filter((at) => vector[at] !== 0)
    .map((at) => [names[at], vector[at]]);
}

/** The products of a sum: all where they are few, else those that are not 0, the largest and the sum of the rest. */
export function termsOf(a: Numbers, b: Numbers, names: readonly string[] | null, few = 4): Term[] {
  const products = new Float64Array(a.length);
  let told: number[] = [];
  let n = 0;
  for (let i = 0; i < products.length; i++) {
    products[i] = a[i] * b[i];
    if (products[i] === 0 && products.length > few) continue;
    n++;
    if (n <= MOST_TERMS) told.push(i);
  }
  if (n > MOST_TERMS) told = largest(products, MOST_TERMS, Math.abs).sort((i, j) => i - j);
  const terms: Term[] = told.map((i) => [names ? names[i] : i, a[i], b[i]]);
  if (n === told.length) return terms;
  for (const i of told) products[i] = 0;
  return [...terms, [null, n - told.length, sum(products)]];
}
