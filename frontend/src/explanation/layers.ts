/** What several layers can do that one cannot, for one token: the ratio of two weights, layer by layer. */

import { namesOf, namesOfTokens, rowOf, scaledAt } from "../engine/path";
import type { Layer } from "../engine/record";
import { descending, dimsOf, largest, rowOfHead } from "./arrays";
import { Asked, type Fact } from "./facts";
import type { Data } from "./words";

type Layers = readonly Layer[];

/** `pair`: a sentence that differs in other words, to show that layer 0 cannot tell them apart. */
export function factsOfLayers(layers: Layers, query: number, pair: Layers | null = null): Fact[] {
  const last = layers[layers.length - 1];
  const order = descending(new Asked(last, query, null).mean);
  const a = order[0];
  const b = rivalOf(layers, pair, query, order);
  if (b === null) return [];
  const token = namesOfTokens(layers[0].tokens)[query];
  const data = { token, a: nameOfKey(last, a), b: nameOfKey(last, b) };
  const other = pair && otherRatios(pair, [token, data.a, data.b]);
  const takenIn = takenInFrom(layers[0], query);
  const end = { ...data, layer: layers.length - 1 };
  const found: [string, Data][] = [
    ["limit.rule", { token }],
    ["limit.first", { ...data, ratio: ratioOf(layers[0], query, a, b) }],
  ];
  if (other) found.push(["limit.pair", { ...data, other: other[0] }]);
  if (takenIn) found.push(["limit.taken_in", { ...takenIn, token }]);
  found.push(["limit.last", { ...end, ratio: ratioOf(last, query, a, b) }]);
  if (other) found.push(["limit.pair_last", { ...end, other: other[1] }]);
  return found.map(([kind, said]) => ({ section: "layers", kind, data: said, head: 0, layer: null }));
}

/** The key to set beside the heaviest: what the pair's sentence attends to instead, or the second heaviest. */
function rivalOf(layers: Layers, pair: Layers | null, query: number, order: readonly number[]): number | null {
  const theirs = pair?.[pair.length - 1];
  if (pair && theirs && query < theirs.q.rows) {
    const [b] = largest(new Asked(theirs, query, null).mean, 1);
    const isSameWord = pair[0].tokens[b]?.text === layers[0].tokens[b]?.text;
    if (b !== order[0] && b < order.length && isSameWord) return b;
  }
  return order.find((key) => key !== order[0] && key !== query) ?? null;
}

/** The weight of a over that of b, from their scaled scores, mean over the heads in logs. */
function ratioOf(layer: Layer, query: number, a: number, b: number): number {
  let total = 0;
  for (let head = 0; head < layer.q.heads; head++) {
    total += scaledAt(layer, head, query, a) - scaledAt(layer, head, query, b);
  }
  return Math.exp(Math.min(700, Math.max(-700, total / layer.q.heads)));
}

/** The same ratio in the first and the last layer of the pair, where its words can be found there. */
function otherRatios(pair: Layers, words: readonly string[]): [number, number] | null {
  const names = namesOfTokens(pair[0].tokens);
  const at = words.map((word) => names.indexOf(word));
  if (at.includes(-1)) return null;
  const [query, a, b] = at;
  return [ratioOf(pair[0], query, a, b), ratioOf(pair[pair.length - 1], query, a, b)];
}

/** What the token took in from the key (other than itself) that it read most in layer 0: weight · v of that key. */
function takenInFrom(first: Layer, query: number): Data | null {
  const names = namesOf(first, "output");
  const isPlain = first.heads !== null && first.heads.w_o === null && first.q.heads === 1 && first.keyTokens === null;
  if (names === null || !isPlain || first.v === null || !first.source.details.residual) return null;
  const weights = rowOf(first, 0, query).weights.slice();
  weights[query] = 0;
  const [key] = largest(weights, 1);
  const handedOver = Array.from(rowOfHead(first.v, 0, key), (a) => weights[key] * a);
  const dims = dimsOf(handedOver, names).filter(([, a]) => Math.abs(a) >= 0.1);
  return dims.length > 0 ? { key: nameOfKey(first, key), dims } : null;
}

function nameOfKey(layer: Layer, key: number): string {
  return namesOfTokens(layer.keyTokens ?? layer.tokens)[key];
}
