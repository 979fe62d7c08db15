/** What is known of every head: from the document, or, where a person edits, counted anew. */
import { rowOf } from "../../engine/path";
import type { Layer } from "../../engine/record";
import type { Desk } from "../../state";

export interface HeadFacts {
  readonly layer: number;
  readonly head: number;
  /** Mean over its rows, in nats. */
  readonly entropy: number;
  /** Mean weight on key 0, and on the key before the query. */
  readonly first: number;
  readonly previous: number;
}

export type Measure = "entropy" | "first" | "previous";
export const MEASURES: readonly Measure[] = ["entropy", "first", "previous"];

export type Order = "place" | `${Measure}_${"up" | "down"}`;
export const ORDERS: readonly Order[] = [
  "place", "entropy_up", "entropy_down", "first_down", "first_up", "previous_down", "previous_up",
];

export function factsOf(desk: Desk): HeadFacts[] {
  const made = desk.sheet.value === desk.original && desk.moving === null ? null : desk.made.value;
  if (made !== null) return made.flatMap((layer, at) => headsOf(layer, at));
  return desk.document.facts.flatMap(({ n_heads, entropy, first, previous }, layer) =>
    Array.from({ length: n_heads }, (_, head) => ({
      layer, head, entropy: entropy[head], first: first[head], previous: previous[head],
    })),
  );
}

function headsOf(layer: Layer, at: number): HeadFacts[] {
  return Array.from({ length: layer.q.heads }, (_, head) => ({ layer: at, head, ...meansOf(layer, head) }));
}

/** Over the rows that may read something; of the key before, without row 0. */
function meansOf(layer: Layer, head: number): Pick<HeadFacts, Measure> {
  const sums = { entropy: 0, first: 0, previous: 0 };
  let [rows, later] = [0, 0];
  for (let query = 0; query < layer.q.rows; query++) {
    const { weights, allowed } = rowOf(layer, head, query);
    if (!allowed.includes(1)) continue;
    rows += 1;
    sums.entropy -= weights.reduce((sum, weight) => sum + (weight > 0 ? weight * Math.log(weight) : 0), 0);
    sums.first += weights[0];
    if (query === 0) continue;
    later += 1;
    sums.previous += weights[query - 1] ?? 0;
  }
  const mean = (sum: number, n: number): number => (n ? sum / n : 0);
  return { entropy: mean(sums.entropy, rows), first: mean(sums.first, rows), previous: mean(sums.previous, later) };
}

export function ordered(heads: readonly HeadFacts[], order: Order): readonly HeadFacts[] {
  if (order === "place") return heads;
  const [measure, way] = order.split("_") as [Measure, "up" | "down"];
  const sign = way === "up" ? 1 : -1;
  return [...heads].sort((a, b) => sign * (a[measure] - b[measure]));
}
