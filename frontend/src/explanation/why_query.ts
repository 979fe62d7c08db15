/**
 * Why a query is what it is: a wanted row, read backwards from weights to scores and from scores to the query.
 * As explanation/why_query.py: weights → logs → a shift that softmax does not see → × √d_k → what q · k must give.
 */

import { kvHeadOf, namesOf, namesOfTokens } from "../engine/path";
import type { Layer } from "../engine/record";
import { biasAt, scaleOf } from "../engine/rule";
import { filled, SLACK, type WantedRow } from "../engine/wanted";
import { dimsOf, isZero, rowOfTable, sum, termsOf } from "./arrays";
import { MOST_KEYS, MOST_TERMS, type Asked, type Fact, type Facts } from "./facts";
import type { Data, Dim } from "./words";

const REACHED = 1e-7; // weights that differ by no more are the wanted ones
const ROUNDED = 5e-4; // or were written with fewer digits

/** The steps from what was wanted of a token to its query; nothing where nothing was wanted, or many keys are read. */
export function* whyQuery(asked: Asked, head: number): Facts {
  const { softcap, sink } = asked.layer.rule;
  const wanted = wantedRow(asked, head);
  if (wanted === null || softcap !== null || sink !== null) return;
  const wish = new Wish(asked, head, wanted);
  if (wish.at.length < 2 || wish.at.length > MOST_KEYS) return;
  yield wish.fact("why.wanted", { weights: wish.named(wish.at.map((key) => wanted[key])) });
  const zeros = wish.at.filter((key) => wanted[key] === 0);
  if (zeros.length > 0) {
    yield wish.fact("why.zero", { keys: zeros.map((key) => wish.keys[key]) });
    return;
  }
  yield* scores(wish);
  yield* query(wish);
}

/** (key,) What was wanted of a row; null where nothing was, or what the source says is no wish. */
function wantedRow(asked: Asked, head: number): Float64Array | null {
  const tables = tablesOf(asked.layer);
  const table: unknown = tables.length > 1 ? tables[head] : tables[0];
  const { allowed } = asked.row(head);
  const row = isMap(table) ? weightsIn(table[asked.query], asked.keys.length) : null;
  if (row === null || !allowed.includes(1) || sum(Object.values(row)) > 1 + SLACK) return null;
  return filled(row, allowed);
}

/** One a head, or one for all; none where this is not the layer that is meant: the last, or the one with a design. */
function tablesOf({ source, keyTokens }: Layer): readonly unknown[] {
  const { design, n_layers = 1, wanted } = source.details;
  const isOther = design === undefined && source.layer !== null && source.layer + 1 !== n_layers;
  return isOther || keyTokens !== null || !Array.isArray(wanted) ? [] : wanted;
}

/** A file may say anything. */
function weightsIn(said: unknown, n: number): WantedRow | null {
  if (!isMap(said) || Object.keys(said).length === 0) return null;
  const isWeight = ([key, weight]: [string, unknown]): boolean => {
    const isKey = /^\d{1,9}$/.test(key) && Number(key) < n;
    return isKey && typeof weight === "number" && weight >= 0 && weight <= 1 + SLACK;
  };
  return Object.entries(said).every(isWeight) ? (said as WantedRow) : null;
}

function isMap(said: unknown): said is Readonly<Record<string | number, unknown>> {
  return typeof said === "object" && said !== null && !Array.isArray(said);
}

/** One wanted row of one head: the keys that may be read, and the scores that it asks for. */
class Wish {
  readonly at: readonly number[];
  /** Equal tokens are numbered: the#2. */
  readonly keys: readonly string[];
  readonly scale: number;
  readonly hasBias: boolean;

  constructor(
    readonly asked: Asked,
    readonly head: number,
    readonly wanted: Float64Array,
  ) {
    const { allowed } = asked.row(head);
    this.at = [...allowed.keys()].filter((key) => allowed[key]);
    this.keys = namesOfTokens(asked.layer.tokens);
    this.scale = scaleOf(asked.layer);
    this.hasBias = asked.layer.rule.bias !== null;
  }

  fact(kind: string, data: Data): Fact {
    return this.asked.fact("why", kind, { token: this.keys[this.asked.query], ...data }, this.head);
  }

  /** [key, number] for each allowed key. */
  named(numbers: readonly number[]): Dim[] {
    return this.at.map((key, place) => [this.keys[key], numbers[place]]);
  }

  /** Whether W_K of this head is the identity. */
  get areKeysX(): boolean {
    const { heads, q } = this.asked.layer;
    if (heads === null || heads.rotation !== null || heads.b_k !== null || heads.w_k.rows !== q.width) return false;
    const { columns, values } = heads.w_k;
    const first = q.width * kvHeadOf(this.asked.layer, this.head);
    const isUnit = (row: number, column: number): boolean => {
      return values[row * columns + first + column] === Number(row === column);
    };
    return [...Array(q.width ** 2).keys()].every((at) => isUnit(Math.floor(at / q.width), at % q.width));
  }

  score(key: number): number {
    return this.asked.row(this.head).scores[key];
  }

  biasOf(key: number): number {
    const { bias } = this.asked.layer.rule;
    return bias === null ? 0 : biasAt(bias, this.head, this.asked.query, key);
  }
}

/** From the weights to the scores that they ask for. */
function* scores(wish: Wish): Facts {
  const { at, asked, head, scale, hasBias } = wish;
  const logs = at.map((key) => Math.log(wish.wanted[key]));
  yield wish.fact("why.logs", { logs: wish.named(logs) });
  const silent = at.findIndex((key) => isZero(asked.k(head, key))); // its score is 0 whatever the query is
  const taken = at.map((key, place) => scale * wish.score(key) + wish.biasOf(key) - logs[place]);
  const shift = silent < 0 ? sum(taken) / at.length : wish.biasOf(at[silent]) - logs[silent];
  const kind = silent < 0 ? "free" : hasBias ? "biased" : "forced";
  const shifted = logs.map((log) => log + shift);
  const key = silent < 0 ? "" : wish.keys[at[silent]];
  yield wish.fact(`why.shift.${kind}`, { key, shift, shifted: wish.named(shifted) });
  const scaled = shifted.map((value, place) => value - wish.biasOf(at[place]));
  if (hasBias) yield wish.fact("why.bias", { unbiased: wish.named(scaled) });
  const needed = wish.named(scaled.map((value) => value / scale));
  if (asked.layer.rule.scale === null) yield wish.fact("why.root", { d_head: asked.layer.q.width, needed });
  else yield wish.fact("why.scale", { scale, needed });
}

/** From the scores to the query that gives them; or that it does not. */
function* query(wish: Wish): Facts {
  const { at, asked, head } = wish;
  const { weights } = asked.row(head);
  const offs = at.map((key) => Math.abs(weights[key] - wish.wanted[key]));
  const off = Math.max(...offs);
  const worst = wish.keys[at[offs.indexOf(off)]];
  if (off > ROUNDED) {
    yield wish.fact("why.missed", { key: worst, off, scores: wish.named(at.map((key) => wish.score(key))) });
    return;
  }
  const names = wish.areKeysX ? namesOf(asked.layer, "q") : null;
  yield wish.fact(wish.areKeysX ? "why.keys.identity" : "why.keys", {});
  for (const key of at) {
    const terms = termsOf(asked.q(head), asked.k(head, key), names, 0);
    const kind = terms.length > 0 ? "why.key" : "why.key.silent";
    yield wish.fact(kind, { key: wish.keys[key], terms, score: wish.score(key) });
  }
  if (names === null) yield wish.fact("why.query.numbers", { vector: asked.q(head) });
  else yield wish.fact("why.query", { dims: dimsOf(asked.q(head), names) });
  yield* rowsOfW_Q(wish);
  if (off > REACHED) yield wish.fact("why.rounded", { key: worst, off });
}

function* rowsOfW_Q(wish: Wish): Facts {
  const { layer, query } = wish.asked;
  const names = namesOf(layer, "x");
  if (layer.x === null || names === null || layer.heads === null || layer.heads.rotation !== null) return;
  const x = rowOfTable(layer.x, query);
  const rows = names.map((name, at): Dim => [name, x[at]]).filter(([, value]) => value !== 0);
  if (rows.length > 0 && rows.length <= MOST_TERMS) yield wish.fact("why.rows", { rows });
}
