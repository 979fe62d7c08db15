/** What attention is wanted: rows that a person wrote, made whole as Python does it, and how far off they are. */

import { rowOf } from "./path";
import type { Places } from "./places";
import type { Layer } from "./record";
import { finite, placeOf, Refused } from "./refused";
import { allowedAt } from "./rule";

/** key → wanted weight, as written; keys left out share evenly what remains. */
export type WantedRow = Readonly<Record<number, number>>;
/** query → its row; queries left out are free. */
export type WantedTable = Readonly<Record<number, WantedRow>>;
/** One table a head of the last layer, or one for all its heads. */
export type Wanted = readonly WantedTable[];

/** A row may be off 1 by so much (src/jumok/sources/design/wishes.py). */
export const SLACK = 1e-6;

/** Why a wanted row cannot be made whole; `total` is what its weights sum to. */
export interface Trouble {
  readonly kind: "sum" | "nothing_allowed" | "all_forbidden";
  readonly total: number;
  /** No allowed key is left out, so nothing can make up the difference. */
  readonly isWhole: boolean;
}

/** The table of a head. */
export function tableFor(wanted: Wanted, head: number): WantedTable {
  return wanted[wanted.length === 1 ? 0 : head] ?? {};
}

/** 1 for each key that a query may read. */
export function allowedKeys(layer: Layer, query: number): Uint8Array {
  return Uint8Array.from({ length: layer.k.rows }, (_, key) => Number(allowedAt(layer.rule.allowed, query, key)));
}

/** A row that sums to 1 over the allowed keys, as Python's `wishes` makes it. */
export function completed(row: WantedRow, allowed: Uint8Array): Float64Array | Trouble {
  const total = sumOf(Object.values(row));
  const free = freeKeys(row, allowed);
  const trouble = (kind: Trouble["kind"]): Trouble => ({ kind, total, isWhole: free.length === 0 });
  if (!allowed.includes(1)) return trouble("nothing_allowed");
  if (total > 1 + SLACK || (free.length === 0 && total < 1 - SLACK)) return trouble("sum");
  return filled(row, allowed) ?? trouble("all_forbidden");
}

/** A row over the allowed keys, of which those left out share what remains; null where nothing is wanted of any. */
export function filled(row: WantedRow, allowed: Uint8Array): Float64Array | null {
  const total = sumOf(Object.values(row));
  const share = total >= 1 - SLACK ? 0 : (1 - total) / freeKeys(row, allowed).length;
  const made = Float64Array.from(allowed, (may, key) => (may ? (row[key] ?? share) : 0));
  const sum = sumOf(made);
  return sum > 0 ? made.map((weight) => weight / sum) : null;
}

/** The allowed keys that a row leaves out. */
function freeKeys(row: WantedRow, allowed: Uint8Array): number[] {
  return [...allowed.keys()].filter((key) => allowed[key] === 1 && row[key] === undefined);
}

/** What is lost in each step is added at the end (Neumaier), so that .45 + .45 + 8 × .0125 is 1, as in Python. */
function sumOf(numbers: Iterable<number>): number {
  let [sum, lost] = [0, 0];
  for (const number of numbers) {
    const next = sum + number;
    lost += Math.abs(sum) >= Math.abs(number) ? sum - next + number : number - next + sum;
    sum = next;
  }
  return sum + lost;
}

// changing a row -----------------------------------------------------------------------------------

/**
 * A row with another weight for a key. Free keys share the rest; where none is free the others keep their ratios, as if
 * only this key's score were another. Errors: `Refused` where the row could not sum to 1.
 */
export function withWeight(row: WantedRow, allowed: Uint8Array, key: number, value: number): WantedRow {
  if (!(finite(value) >= 0 && value <= 1)) throw new Refused("wanted_range");
  const others = { ...row };
  delete others[key];
  const taken = sumOf(Object.values(others));
  if (freeKeys({ ...others, [key]: value }, allowed).length > 0) {
    if (taken + value > 1 + SLACK) throw new Refused("wanted_sum", { taken, most: Math.max(0, 1 - taken) });
    return { ...others, [key]: value };
  }
  const rest = 1 - value;
  if (taken === 0 && rest > SLACK) throw new Refused("wanted_rest", { rest });
  const ratio = taken === 0 ? 0 : rest / taken;
  const scaled = Object.entries(others).map(([other, weight]) => [other, tidy(weight * ratio)]);
  return { ...Object.fromEntries(scaled), [key]: value };
}

/** Without the dust of binary fractions. */
export function tidy(value: number): number {
  return Number(value.toPrecision(12));
}

/** A row without its wishes for what the mask hides; the others as large as they count in the row made whole. */
export function withinMask(row: WantedRow, allowed: Uint8Array, whole: Float64Array | null): WantedRow {
  const keys = Object.keys(row).map(Number);
  const seen = keys.filter((key) => allowed[key]);
  if (seen.length === keys.length) return row;
  return Object.fromEntries(seen.map((key) => [key, whole ? tidy(whole[key]) : row[key]]));
}

/** A row in which a key is free again; null where nothing is left that is wanted. */
export function withoutWeight(row: WantedRow, key: number): WantedRow | null {
  const others = { ...row };
  delete others[key];
  return Object.keys(others).length > 0 ? others : null;
}

/** Every head's tables with another row for a query; null leaves the row free. */
export function withRow(wanted: Wanted, heads: number, head: number, query: number, row: WantedRow | null): Wanted {
  const tables = Array.from({ length: heads }, (_, at) => tableFor(wanted, at));
  const others = { ...tables[placeOf("head", head, heads)] };
  delete others[query];
  const next = tables.with(head, row === null ? others : { ...others, [query]: row });
  return next.every((table) => Object.keys(table).length === 0) ? [] : next;
}

/** What stays wanted when tokens are added, moved or removed: a row of which all is said stays one that sums to 1. */
export function wantedFor(wanted: Wanted, places: Places): Wanted {
  const moved = wanted.map((table) => replaced(table, places, (row) => rowFor(row, places)));
  return moved.every((table) => Object.keys(table).length === 0) ? [] : moved;
}

function rowFor(row: WantedRow, places: Places): WantedRow | null {
  const kept: WantedRow = replaced(row, places, (weight) => weight);
  const [before, after] = [row, kept].map((one) => sumOf(Object.values(one)));
  if (Object.keys(kept).length === 0) return null;
  if (after === before || Math.abs(before - 1) > SLACK) return kept;
  return after > 0 ? replaced(row, places, (weight) => tidy(weight / after)) : null;
}

function replaced<From, To>(of: Readonly<Record<number, From>>, places: Places, made: (one: From) => To | null) {
  const entries = places.flatMap((from, at) => {
    const one = from === null || of[from] === undefined ? null : made(of[from]);
    return one === null ? [] : [[at, one] as const];
  });
  return Object.fromEntries(entries) as Record<number, To>;
}

// what came from elsewhere -------------------------------------------------------------------------

/** What a source or an address says is wanted. Errors: `Refused` where it does not fit so many heads and tokens. */
export function wantedIn(said: unknown, heads: number, n: number): Wanted {
  const tables = said ?? [];
  if (!Array.isArray(tables) || (tables.length > 1 && tables.length !== heads)) throw new Refused("damaged");
  return tables.map((table) => placed(table, n, (row) => placed(row, n, weightIn)));
}

function placed<To>(said: unknown, n: number, made: (part: unknown) => To): Readonly<Record<number, To>> {
  if (typeof said !== "object" || said === null || Array.isArray(said)) throw new Refused("damaged");
  const parts = Object.entries(said).map(([at, part]) => [placeOf("wanted", Number(at), n), made(part)] as const);
  return Object.fromEntries(parts);
}

function weightIn(weight: unknown): number {
  if (!(finite(weight) >= 0)) throw new Refused("wanted_range");
  return weight as number;
}

// beside what is reached ---------------------------------------------------------------------------

/** A wanted row beside the one that is reached. */
export interface Beside {
  readonly wanted: Float64Array;
  readonly reached: Float64Array;
  /** KL(wanted ‖ reached) in nats; infinite where a wanted key is not reached at all. */
  readonly divergence: number;
  /** The largest difference, and the key where it is. */
  readonly most: { readonly key: number; readonly difference: number };
}

/** null where the row is free. */
export function besideReached(layer: Layer, wanted: Wanted, head: number, query: number): Beside | Trouble | null {
  const row = tableFor(wanted, head)[query];
  if (row === undefined) return null;
  const whole = completed(row, allowedKeys(layer, query));
  if (!(whole instanceof Float64Array)) return whole;
  const reached = rowOf(layer, head, query).weights;
  const terms = whole.map((weight, key) => (weight > 0 ? weight * Math.log(weight / reached[key]) : 0));
  const differences = whole.map((weight, key) => Math.abs(weight - reached[key]));
  const difference = differences.reduce((most, one) => Math.max(most, one), 0);
  const most = { key: differences.indexOf(difference), difference };
  return { wanted: whole, reached, divergence: Math.max(0, sumOf(terms)), most };
}
