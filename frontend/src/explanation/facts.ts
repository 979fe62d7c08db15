/**
 * One layer and a token → facts: what happened to this token, stage by stage, without a word of any language.
 * As explanation/facts.py; where the values of a layer did not travel, what needs them is not told.
 */

import { kvHeadOf, namesOf, namesOfTokens, outputRowOf, rowOf, type Row } from "../engine/path";
import type { Layer, Numbers } from "../engine/record";
import { biasAt } from "../engine/rule";
import { descending, dimsOf, isClose, isZero, largest, rowOfHead, rowOfTable, spread, sum, termsOf } from "./arrays";
import { whyQuery } from "./why_query";
import type { Data, Dim, Step, Value } from "./words";

export const MOST_KEYS = 12; // keys told one by one; the rest is told in sum
export const MOST_TERMS = 8;
const MOST_TIED = 200; // ties are told where a reader can see them

/** One thing that is so: which sentence says it, and what the sentence needs. */
export interface Fact {
  readonly section: string;
  readonly kind: string;
  readonly data: Data;
  readonly head: number;
  /** null: the layer stands alone, or it is said once for all layers. */
  readonly layer: number | null;
}

export type Facts = Generator<Fact, void, undefined>;

/**
 * All facts about one token of one layer, in the order in which the formula reads. `at`: which layer it is; `only`: of
 * this head.
 */
export function factsOf(layer: Layer, query: number, at: number | null = null, only: number | null = null): Fact[] {
  const asked = new Asked(layer, query, at, only);
  return [
    ...embedding(asked),
    ...asked.heads.flatMap((head) => [...ofHead(asked, head)]),
    ...output(asked),
    ...ranking(asked),
    ...change(asked),
    ...analogies(asked),
    ...summary(asked),
    ...asked.heads.flatMap((head) => [...whyQuery(asked, head)]),
  ];
}

/** How a row is shared out: exp(scaled − top) over the total; a sink has its part of it. */
interface Softmax {
  readonly top: number;
  readonly total: number;
  readonly sink: number | null;
  readonly sinkExp: number;
}

/** One token's row of every stage, each made once. */
export class Asked {
  readonly token: string;
  readonly keys: readonly string[];
  readonly heads: readonly number[];
  readonly x: Numbers | null;
  private readonly rows: Row[] = [];
  private readonly told: number[][] = [];
  private readonly softmaxes: Softmax[] = [];
  private made: Numbers | null | undefined;
  private read: number[] | undefined;
  private means: Float64Array | undefined;

  constructor(
    readonly layer: Layer,
    readonly query: number,
    readonly at: number | null,
    only: number | null = null,
  ) {
    this.token = namesOfTokens(layer.tokens)[query];
    this.keys = namesOfTokens(layer.keyTokens ?? layer.tokens);
    this.heads = only === null ? Array.from({ length: layer.q.heads }, (_, head) => head) : [only];
    this.x = layer.x && rowOfTable(layer.x, query);
  }

  get isCrossed(): boolean {
    return this.layer.keyTokens !== null;
  }

  row(head: number): Row {
    return (this.rows[head] ??= rowOf(this.layer, head, this.query));
  }

  q(head: number): Numbers {
    return rowOfHead(this.layer.q, head, this.query);
  }

  k(head: number, key: number): Numbers {
    return rowOfHead(this.layer.k, kvHeadOf(this.layer, head), key);
  }

  /** null where no values travelled. */
  v(head: number, key: number): Numbers | null {
    return this.layer.v && rowOfHead(this.layer.v, kvHeadOf(this.layer, head), key);
  }

  /** Of one value dimension, the number of every key; null where no values travelled. */
  valueColumn(head: number, column: number): Float64Array | null {
    const { v } = this.layer;
    if (v === null) return null;
    const numbers = new Float64Array(v.rows);
    const from = kvHeadOf(this.layer, head) * v.rows;
    for (let key = 0; key < v.rows; key++) numbers[key] = v.values[(from + key) * v.width + column];
    return numbers;
  }

  /** null where no values travelled. */
  get output(): Numbers | null {
    return (this.made ??= outputRowOf(this.layer, this.query));
  }

  /** The keys that may be read. */
  get readable(): readonly number[] {
    const { allowed } = this.row(0);
    return (this.read ??= [...this.keys.keys()].filter((key) => allowed[key]));
  }

  /** (key,) the weights, mean over the heads. */
  get mean(): Float64Array {
    if (this.means) return this.means;
    const total = new Float64Array(this.keys.length);
    for (const head of this.heads) this.row(head).weights.forEach((weight, key) => (total[key] += weight));
    return (this.means = total.map((weight) => weight / this.heads.length));
  }

  softmax(head: number): Softmax {
    return (this.softmaxes[head] ??= this.makeSoftmax(head));
  }

  private makeSoftmax(head: number): Softmax {
    const { scaled } = this.row(head);
    const sink = this.layer.rule.sink?.[head] ?? null;
    let top = sink ?? -Infinity;
    for (const key of this.readable) top = Math.max(top, scaled[key]);
    const sinkExp = sink === null ? 0 : Math.exp(sink - top);
    const total = this.readable.reduce((so_far, key) => so_far + Math.exp(scaled[key] - top), 0) + sinkExp;
    return { top, total, sink, sinkExp };
  }

  /** The keys told one by one: the heaviest, in their order in the sentence. */
  toldKeys(head: number): number[] {
    if (this.keys.length <= MOST_KEYS) return [...this.keys.keys()];
    return (this.told[head] ??= largest(this.row(head).weights, MOST_KEYS).sort((a, b) => a - b));
  }

  fact(section: string, kind: string, data: Data, head = 0): Fact {
    return { section, kind, data, head, layer: this.at };
  }

  headFact(section: string, head: number): Fact {
    return this.fact(section, "head", { head, n_heads: this.heads.length }, head);
  }
}

// embedding, query, keys ---------------------------------------------------------------------------

function* embedding(asked: Asked): Facts {
  const { layer, query, token, x } = asked;
  yield asked.fact("embedding", "token", { token, number: query + 1, position: query, n: layer.q.rows });
  if (x === null) return;
  yield embeddingFact(asked, x);
  if (layer.source.details.positions === "sinusoidal") {
    yield asked.fact("embedding", "embedding.position", { number: query + 1 });
  }
}

export function embeddingFact(asked: Asked, x: Numbers): Fact {
  const fact = vectorFact(asked, "embedding", "embedding", x, namesOf(asked.layer, "x"), 0);
  const isFull = fact.kind === "embedding.named" && x.every((a) => a !== 0);
  return isFull ? { ...fact, kind: "embedding.full" } : fact;
}

/** What a vector says: nothing, some named dimensions, or just numbers. */
function vectorFact(
  asked: Asked,
  section: string,
  kind: string,
  vector: Numbers,
  names: readonly string[] | null,
  head: number,
  more: Data = {},
): Fact {
  const data = { token: asked.token, ...more };
  if (isZero(vector)) return asked.fact(section, `${kind}.zero`, data, head);
  if (names === null) return asked.fact(section, `${kind}.numbers`, { ...data, vector }, head);
  return asked.fact(section, `${kind}.named`, { ...data, dims: dimsOf(vector, names) }, head);
}

function* ofHead(asked: Asked, head: number): Facts {
  if (asked.heads.length > 1) yield asked.headFact("query", head);
  yield* query(asked, head);
  yield* keys(asked, head);
  yield* scores(asked, head);
  yield* weights(asked, head);
  yield* values(asked, head);
}

function* query(asked: Asked, head: number): Facts {
  const rows = rowsFact(asked, head);
  if (rows) yield rows;
  yield queryFact(asked, head);
  const looksFor = looksForFact(asked, head);
  if (looksFor) yield looksFor;
}

/** Which rows of W_Q make the query, where they are few. */
export function rowsFact(asked: Asked, head: number): Fact | null {
  const names = namesOf(asked.layer, "x");
  if (asked.x === null || asked.layer.heads === null || names === null) return null;
  const rows = Array.from(asked.x, (a, at): Dim => [names[at], a]).filter(([, a]) => a !== 0);
  if (rows.length === 0 || rows.length > MOST_TERMS) return null;
  return asked.fact("query", "query.rows", { rows }, head);
}

export function queryFact(asked: Asked, head: number): Fact {
  return vectorFact(asked, "query", "query", asked.q(head), namesOf(asked.layer, "q"), head);
}

/** The query read through W_K, where that says something else than the query itself. */
function looksForFact(asked: Asked, head: number): Fact | null {
  const { heads, k } = asked.layer;
  const names = namesOf(asked.layer, "x");
  const q = asked.q(head);
  if (heads === null) return null;
  if (heads.rotation !== null) return asked.fact("query", "query.rotated", {}, head);
  if (names === null || isZero(q)) return null;
  const from = kvHeadOf(asked.layer, head) * k.width;
  const looksFor = names.map((_, row) => dotFrom(rowOfTable(heads.w_k, row), from, q));
  if (namesOf(asked.layer, "q") !== null && isClose(looksFor, q)) return null;
  return asked.fact("query", "query.looks_for", { dims: dimsOf(looksFor, names) }, head);
}

function dotFrom(row: Numbers, from: number, q: Numbers): number {
  let total = 0;
  for (let i = 0; i < q.length; i++) total += row[from + i] * q[i];
  return total;
}

function* keys(asked: Asked, head: number): Facts {
  yield asked.fact("keys", asked.isCrossed ? "keys.intro.cross" : "keys.intro", { token: asked.token }, head);
  for (const key of asked.toldKeys(head)) yield keyFact(asked, head, key);
}

export function keyFact(asked: Asked, head: number, key: number): Fact {
  const more = { key: asked.keys[key] };
  return vectorFact(asked, "keys", "key", asked.k(head, key), namesOf(asked.layer, "q"), head, more);
}

// scores -------------------------------------------------------------------------------------------

function* scores(asked: Asked, head: number): Facts {
  yield asked.fact("scores", "scores.intro", { token: asked.token }, head);
  for (const key of asked.toldKeys(head)) yield scoreFact(asked, head, key);
  const isRoot = scaleSteps(asked.layer)[0][0] === "root";
  if (isRoot && asked.readable.length > 0) {
    yield asked.fact("scores", "scores.why_root", { d_head: asked.layer.q.width }, head);
  }
}

export function scoreFact(asked: Asked, head: number, key: number): Fact {
  const { layer, keys } = asked;
  const { scores, scaled, allowed } = asked.row(head);
  const terms = termsOf(asked.q(head), asked.k(head, key), namesOf(layer, "q"));
  const data = { key: keys[key], terms, score: scores[key] };
  if (!allowed[key]) return asked.fact("scores", "score.hidden", data, head);
  const steps = stepsAt(asked, head, key);
  const kind = terms.length > 0 ? "score" : "score.none";
  return asked.fact("scores", kind, { ...data, steps, scaled: scaled[key] }, head);
}

/** How the scale came about: by the root of d_head, with a temperature after it, or as a number. */
export function scaleSteps({ rule: { scale }, q, source }: Layer): Step[] {
  const said = source.details.temperature;
  const temperature = typeof said === "number" && said > 0 && Number.isFinite(said) ? said : 1;
  if (scale === null) return [["root", q.width]];
  const product = scale * temperature * Math.sqrt(q.width);
  if (temperature !== 1 && Math.abs(product - 1) <= 1e-12 * Math.max(product, 1)) {
    return [["root", q.width], ["temperature", temperature]];
  }
  return [["scale", scale]];
}

function stepsAt({ layer, query }: Asked, head: number, key: number): Step[] {
  const { softcap, bias } = layer.rule;
  const steps = scaleSteps(layer);
  if (softcap !== null) steps.push(["softcap", softcap]);
  if (bias !== null) steps.push(["bias", biasAt(bias, head, query, key)]);
  return steps;
}

// weights ------------------------------------------------------------------------------------------

function* weights(asked: Asked, head: number): Facts {
  const row = asked.row(head);
  const barred = barredFact(asked, head);
  if (barred) yield barred;
  if (barred?.kind === "row.nothing") return;
  yield introFact(asked, head);
  const told = asked.toldKeys(head);
  for (const key of told) if (row.allowed[key]) yield weightFact(asked, head, key);
  if (asked.keys.length > MOST_KEYS) {
    const rest = row.weights.slice();
    for (const key of told) rest[key] = 0;
    yield asked.fact("weights", "weights.rest", { n: asked.keys.length - MOST_KEYS, weight: sum(rest) }, head);
  }
  yield sumFact(asked, head);
  yield* shape(asked, head);
}

/** What the mask hides from the token, where it hides something. */
export function barredFact(asked: Asked, head: number): Fact | null {
  const { keys, token } = asked;
  const { allowed } = asked.row(head);
  const hidden = keys.filter((_, key) => !allowed[key]);
  if (hidden.length === keys.length) return asked.fact("weights", "row.nothing", { token }, head);
  if (hidden.length === 0) return null;
  const data = { token, keys: hidden.slice(0, MOST_KEYS), n_hidden: hidden.length, n: keys.length };
  return asked.fact("weights", "row.hidden", data, head);
}

function introFact(asked: Asked, head: number): Fact {
  const { top, total, sink, sinkExp } = asked.softmax(head);
  const data = { n: asked.readable.length, top, total };
  if (sink === null) return asked.fact("weights", "weights.intro", data, head);
  return asked.fact("weights", "weights.intro.sink", { ...data, sink, sink_exp: sinkExp }, head);
}

function sumFact(asked: Asked, head: number): Fact {
  const { total, sink, sinkExp } = asked.softmax(head);
  const data = { sum: sum(asked.row(head).weights) };
  if (sink === null) return asked.fact("weights", "weights.sum", data, head);
  return asked.fact("weights", "weights.sink", { ...data, sink, share: sinkExp / total }, head);
}

export function weightFact(asked: Asked, head: number, key: number): Fact {
  const { scaled, weights } = asked.row(head);
  const { top, total } = asked.softmax(head);
  const data = { key: asked.keys[key], scaled: scaled[key], top, exp: Math.exp(scaled[key] - top), total };
  return asked.fact("weights", "weight", { ...data, weight: weights[key] }, head);
}

/** Where a row is alone, uniform, tied or dominated by one key: that it is so, and why. */
export function* shape(asked: Asked, head: number): Facts {
  const at = asked.readable;
  const { scaled, weights } = asked.row(head);
  const data = { token: asked.token, n: at.length, weight: weights[at[0]] };
  if (at.length === 1) {
    yield asked.fact("weights", "row.single", { key: asked.keys[at[0]], ...data }, head);
  } else if (isUniform(at.map((key) => scaled[key]))) {
    yield asked.fact("weights", `row.uniform.${whyUniform(asked, head, at)}`, { score: scaled[at[0]], ...data }, head);
  } else {
    yield* ties(asked, head, at);
    const dominated = dominatedFact(asked, head, at);
    if (dominated) yield dominated;
  }
}

function isUniform(scaled: readonly number[]): boolean {
  return spread(scaled) <= 1e-12 * scaled.reduce((most, s) => Math.max(most, Math.abs(s)), 1);
}

function whyUniform(asked: Asked, head: number, at: readonly number[]): string {
  if (asked.layer.rule.bias !== null) return "equal";
  if (isZero(asked.q(head))) return "zero_query";
  return areSameKeys(asked, head, at) ? "same_keys" : "equal";
}

function areSameKeys(asked: Asked, head: number, at: readonly number[]): boolean {
  const first = asked.k(head, at[0]);
  return at.every((key) => asked.k(head, key).every((a, i) => a === first[i]));
}

function dominatedFact(asked: Asked, head: number, at: readonly number[]): Fact | null {
  const { scaled, weights } = asked.row(head);
  const [first, second] = largest(at.map((key) => weights[key]), 2).map((i) => at[i]);
  if (weights[first] < 0.9) return null;
  const gap = scaled[first] - scaled[second];
  const { token, keys } = asked;
  const data = { token, n: at.length, weight: weights[first], key: keys[first], second: keys[second], gap };
  if (gap > 30) return asked.fact("weights", "row.dominated.far", data, head);
  return asked.fact("weights", "row.dominated", { ...data, ratio: Math.exp(gap) }, head);
}

function* ties(asked: Asked, head: number, at: readonly number[]): Facts {
  if (at.length > MOST_TIED) return;
  const { scaled, weights } = asked.row(head);
  for (const [score, tied] of tiedKeys(scaled, at)) {
    const kind = `row.tied.${whyTied(asked, head, tied)}`;
    const keys = tied.map((key) => asked.keys[key]);
    yield asked.fact("weights", kind, { token: asked.token, keys, score, weight: weights[tied[0]] }, head);
  }
}

function tiedKeys(scaled: Numbers, at: readonly number[]): [score: number, tied: number[]][] {
  const groups: [number, number[]][] = [];
  for (const key of at) {
    const group = groups.find(([s]) => Math.abs(s - scaled[key]) <= 1e-12 * Math.max(1, Math.abs(s)));
    if (group) group[1].push(key);
    else groups.push([scaled[key], [key]]);
  }
  return groups.filter(([, tied]) => tied.length > 1);
}

function whyTied(asked: Asked, head: number, tied: readonly number[]): string {
  if (asked.layer.rule.bias !== null) return "equal";
  if (areSameKeys(asked, head, tied)) return "same_keys";
  const q = asked.q(head);
  return tied.every((key) => asked.k(head, key).every((a, i) => a * q[i] === 0)) ? "nothing" : "equal";
}

// values and output --------------------------------------------------------------------------------

function* values(asked: Asked, head: number): Facts {
  if (asked.layer.v === null) return;
  yield asked.fact("values", "values.intro", { token: asked.token }, head);
  const { allowed } = asked.row(head);
  for (const key of asked.toldKeys(head)) {
    const fact = allowed[key] ? valueFact(asked, head, key) : null;
    if (fact) yield fact;
  }
}

/** null where no values travelled. */
export function valueFact(asked: Asked, head: number, key: number): Fact | null {
  const value = asked.v(head, key);
  if (value === null) return null;
  const weight = asked.row(head).weights[key];
  const data = { key: asked.keys[key], weight };
  if (isZero(value)) return asked.fact("values", "value.zero", data, head);
  const product = Array.from(value, (a) => weight * a);
  return asked.fact("values", "value", { ...data, value, product }, head);
}

function* output(asked: Asked): Facts {
  const made = asked.output;
  if (made === null) return;
  const n_heads = asked.heads.length;
  for (const head of asked.heads) {
    if (n_heads > 1) yield asked.headFact("output", head);
    yield* mixed(asked, head);
  }
  const joined = joinedFact(asked, made);
  if (joined) yield joined;
  yield outputFact(asked, made);
}

function* mixed(asked: Asked, head: number): Facts {
  const { mixed } = asked.row(head);
  yield asked.fact("output", "output.intro", { token: asked.token }, head);
  const names = namesOf(asked.layer, "v");
  const empty: (string | number)[] = [];
  for (let column = 0; column < Math.min(mixed?.length ?? 0, MOST_KEYS); column++) {
    const dim = names ? names[column] : column;
    const fact = mixedFact(asked, head, column, dim);
    if (fact) yield fact;
    else empty.push(dim);
  }
  if (empty.length > 0) yield asked.fact("output", "output.rest", { dims: empty }, head);
}

/** One number of the weighted sum; null where nothing arrives. */
function mixedFact(asked: Asked, head: number, column: number, dim: string | number): Fact | null {
  const { weights, mixed } = asked.row(head);
  const handedOver = asked.valueColumn(head, column);
  if (handedOver === null || mixed === null) return null;
  const terms = termsOf(weights, handedOver, asked.keys, 0);
  return terms.length > 0 ? asked.fact("output", "output.dim", { dim, terms, value: mixed[column] }, head) : null;
}

/** How the heads become one, where there is something to say of it. */
export function joinedFact(asked: Asked, made: Numbers): Fact | null {
  const n_heads = asked.layer.q.heads;
  const { w_o, b_o } = asked.layer.heads ?? { w_o: null, b_o: null };
  if (w_o !== null || b_o !== null) return asked.fact("output", "output.w_o", { n_heads, vector: made });
  return n_heads > 1 ? asked.fact("output", "output.joined", { n_heads, vector: made }) : null;
}

export function outputFact(asked: Asked, made: Numbers): Fact {
  return vectorFact(asked, "output", "output", made, namesOf(asked.layer, "output"), 0);
}

// ranking and change -------------------------------------------------------------------------------

function* ranking(asked: Asked): Facts {
  const { token, keys, query } = asked;
  const { allowed } = asked.row(0);
  const mean = asked.mean;
  const order = descending(mean).filter((key) => allowed[key]);
  if (order.length === 0) return;
  const ranked = order.slice(0, MOST_KEYS).map((key): Dim => [keys[key], mean[key]]);
  yield asked.fact("ranking", asked.heads.length === 1 ? "ranking" : "ranking.mean", { token, ranked });
  if (order.length === 1) return; // told by the weights already
  if (spread(order.map((key) => mean[key])) < 1e-9) {
    yield asked.fact("ranking", "conclusion.even", { token });
    return;
  }
  const [first, second] = order;
  const most = first === query && !asked.isCrossed ? "conclusion.itself" : "conclusion.most";
  const data = { token, key: keys[first], weight: mean[first], second_weight: mean[second] };
  const n_alike = order.slice(1).filter((key) => Math.abs(mean[key] - mean[second]) <= 1e-12).length;
  if (n_alike === 1) yield asked.fact("ranking", most, { ...data, second: keys[second] });
  else yield asked.fact("ranking", `${most}.alike`, { ...data, n_alike });
  const names = readNames(asked, mean, order);
  if (names.length > 0) yield asked.fact("ranking", "conclusion.reading", { token, names });
}

/** The largest dimension of each other token that is read more than a little. */
function readNames(asked: Asked, mean: Numbers, order: readonly number[]): string[] {
  const { x } = asked.layer;
  const names = namesOf(asked.layer, "x");
  if (names === null || x === null || asked.isCrossed) return [];
  const isRead = (key: number) =>
    key !== asked.query && mean[key] >= 0.5 / order.length && !isZero(rowOfTable(x, key));
  const read = order.filter(isRead).slice(0, MOST_TERMS);
  return [...new Set(read.map((key) => names[largest(rowOfTable(x, key), 1, Math.abs)[0]]))];
}

function* change(asked: Asked): Facts {
  const { layer, token, x } = asked;
  const made = asked.output;
  const names = namesOf(layer, "output");
  if (x === null || made === null) return;
  if (names === null) {
    yield asked.fact("change", "change.numbers", { token, before: x, after: made });
    return;
  }
  const [before, after] = [dimsOf(x, names), dimsOf(made, names)];
  yield* compared(asked, before, after, isClose(x, made));
  if (layer.source.details.residual) {
    const total = dimsOf(Array.from(x, (a, i) => a + made[i]), names);
    const isLast = asked.at === null || asked.at + 1 === layer.source.details.n_layers;
    yield asked.fact("change", isLast ? "change.residual_last" : "change.residual", { token, dims: total });
  }
}

function* compared(asked: Asked, before: readonly Dim[], after: readonly Dim[], isSame: boolean): Facts {
  const { token } = asked;
  const say = (kind: string, more: Record<string, Value>) => asked.fact("change", kind, { token, ...more });
  const [had, has] = [new Set(namesIn(before)), new Set(namesIn(after))];
  const gained = after.filter(([name]) => !had.has(name));
  const kept = after.filter(([name]) => had.has(name));
  const lost = namesIn(before).filter((name) => !has.has(name));
  if (after.length === 0) yield say("change.nothing", {});
  else if (before.length === 0) yield say("change.from_nothing", { gained });
  else if (gained.length > 0) yield say("change.gained", { before: namesIn(before), gained });
  else if (isSame) yield say("change.none", {});
  else yield say("change.same", { after });
  if (gained.length > 0 && kept.length > 0) {
    yield say("change.kept", { before: before.filter(([name]) => has.has(name)), after: kept });
  }
  if (lost.length > 0 && after.length > 0) yield say("change.lost", { lost });
}

function namesIn(dims: readonly Dim[]): string[] {
  return dims.map(([name]) => name);
}

// said once ----------------------------------------------------------------------------------------

function* analogies(asked: Asked): Facts {
  const { layer, token, keys } = asked;
  const read = asked.readable;
  if (read.length === 0) return;
  const mean = asked.mean;
  const n = layer.k.rows;
  if (layer.rule.allowed.kind !== "everything") {
    yield asked.fact("analogies", "analogy.classroom.masked", { n, n_allowed: read.length, token });
  } else if (!asked.isCrossed) {
    yield asked.fact("analogies", "analogy.classroom", { n, n_questions: layer.q.rows * n, token });
  }
  const weights = read.map((key) => mean[key]);
  const key = read[largest(weights, 1)[0]];
  const even = read.length > 1 && spread(weights) < 1e-9 ? ".even" : "";
  const data = { token, key: keys[key], weight: mean[key] };
  yield asked.fact("analogies", `analogy.listens${even}`, data);
  yield asked.fact("analogies", `analogy.library${even}`, data);
  const [head] = asked.heads;
  const v = asked.isCrossed ? null : asked.v(head, asked.query);
  if (v) yield asked.fact("analogies", "analogy.three", { q: asked.q(head), k: asked.k(head, asked.query), v, token });
}

function* summary(asked: Asked): Facts {
  const { token } = asked;
  for (const name of ["embedding", "query", "key", "value", "score", "softmax", "mix"]) {
    yield asked.fact("summary", `summary.${name}`, { token });
  }
  const kind = asked.isCrossed ? "definition.cross" : "definition";
  yield asked.fact("definition", kind, { n: asked.readable.length });
}
