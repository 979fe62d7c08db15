/** Two texts on one axis, and how far apart their rows are. As measurement/comparison.py. */
import { rowOf } from "../../engine/path";
import type { Layer, Token } from "../../engine/record";
import type { HeadChange, Pair } from "../../hosts/model";

/** One place of the common axis: a token of the first text, of the second, or of both. */
export interface Slot {
  readonly a: number | null;
  readonly b: number | null;
}

/** Both texts merged in order; tokens of only one stand where they are in it. */
export function slotsOf(pairs: readonly Pair[], nA: number, nB: number): Slot[] {
  const slots: Slot[] = [];
  let [a, b] = [0, 0];
  for (const [i, j] of [...inOrder(pairs), [nA, nB] as Pair]) {
    for (; a < i; a++) slots.push({ a, b: null });
    for (; b < j; b++) slots.push({ a: null, b });
    if (i < nA) slots.push({ a: a++, b: b++ });
  }
  return slots;
}

/** Pairs that do not cross; a person may have paired others, which then stand apart on the axis. */
function inOrder(pairs: readonly Pair[]): Pair[] {
  const kept: Pair[] = [];
  for (const pair of [...pairs].sort((one, other) => one[0] - other[0])) {
    if (kept.length === 0 || pair[1] > kept[kept.length - 1][1]) kept.push(pair);
  }
  return kept;
}

/** Matched tokens among those that are read: the pairs, or, of another sequence, the longest common subsequence. */
export function keyPairsOf(a: Layer, b: Layer, pairs: readonly Pair[]): readonly Pair[] {
  return a.keyTokens === null || b.keyTokens === null ? pairs : common(a.keyTokens, b.keyTokens);
}

/** A longest common subsequence of two rows of tokens by their texts. */
export function common(a: readonly Token[], b: readonly Token[]): Pair[] {
  const text = ({ text: said }: Token): string => said.normalize("NFC");
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const isSame = text(a[i]) === text(b[j]);
      longest[i * width + j] = isSame
        ? longest[(i + 1) * width + j + 1] + 1
        : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const pairs: Pair[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (text(a[i]) === text(b[j])) pairs.push([i++, j++]);
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
    else j++;
  }
  return pairs;
}

/** One matched row in both texts: the weights of the matched keys, shared out anew or as they are. */
export interface Rows {
  readonly a: Float64Array;
  readonly b: Float64Array;
  /** Weight on matched keys in each. */
  readonly mass: readonly [number, number];
  /** Weight on keys that only one has. */
  readonly unmatched: readonly [number, number];
}

export interface Both {
  readonly a: Layer;
  readonly b: Layer;
  readonly head: number;
  readonly keys: readonly Pair[];
}

export function rowsOf({ a, b, head, keys }: Both, [i, j]: Pair, sharedOut: boolean): Rows {
  const first = partOf(rowOf(a, head, i).weights, keys.map((pair) => pair[0]), sharedOut);
  const second = partOf(rowOf(b, head, j).weights, keys.map((pair) => pair[1]), sharedOut);
  return { a: first.on, b: second.on, mass: [first.mass, second.mass], unmatched: [first.others, second.others] };
}

interface Part {
  readonly on: Float64Array;
  readonly mass: number;
  readonly others: number;
}

function partOf(weights: Float64Array, keys: readonly number[], sharedOut: boolean): Part {
  const on = Float64Array.from(keys, (key) => weights[key]);
  const mass = on.reduce((sum, weight) => sum + weight, 0);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const others = keys.length === weights.length ? 0 : Math.max(0, all - mass);
  return { on: sharedOut && mass > 0 ? on.map((weight) => weight / mass) : on, mass, others };
}

/** The Jensen–Shannon distance of two rows that sum to 1: 0 the same, 1 nothing in common. */
export function distance(p: Float64Array, q: Float64Array): number {
  let sum = 0;
  p.forEach((one, at) => {
    const total = one + q[at];
    if (total <= 0) return;
    const apart = (one - q[at]) / total;
    sum += (total / 2) * (timesLog(apart) + timesLog(-apart));
  });
  return Math.sqrt(Math.min(1, Math.max(0, sum / (2 * Math.LN2))));
}

/** (1 + x) · log(1 + x), 0 at x = −1; log1p, so that rows which differ in their last digit are not lost. */
function timesLog(x: number): number {
  return x > -1 ? (1 + x) * Math.log1p(x) : 0;
}

export function changeOf(layer: number, both: Both, pairs: readonly Pair[]): HeadChange {
  const found = { largest: 0, query: null as Pair | null, key: null as Pair | null };
  const unmatched: [number, number] = [0, 0];
  let [sum, n] = [0, 0];
  for (const pair of pairs) {
    const rows = rowsOf(both, pair, true);
    unmatched[0] += rows.unmatched[0] / pairs.length;
    unmatched[1] += rows.unmatched[1] / pairs.length;
    if (rows.mass[0] > 0 && rows.mass[1] > 0) [sum, n] = [sum + distance(rows.a, rows.b), n + 1];
    rows.b.forEach((weight, at) => {
      const change = weight - rows.a[at];
      if (Math.abs(change) <= Math.abs(found.largest) * (1 + 1e-9)) return; // of equal ones the first, as in Python
      Object.assign(found, { largest: change, query: pair, key: both.keys[at] });
    });
  }
  return { layer, head: both.head, distance: n ? sum / n : null, unmatched, ...found };
}
