/** A record and a token → what happened, in the sentences of `jumok.explain`. As explanation/explanation.py. */

import { namesOfTokens } from "../engine/path";
import type { Lang, Layer, Stage } from "../engine/record";
import {
  Asked,
  barredFact,
  embeddingFact,
  factsOf,
  joinedFact,
  keyFact,
  outputFact,
  queryFact,
  rowsFact,
  scoreFact,
  shape,
  valueFact,
  weightFact,
  type Fact,
} from "./facts";
import { factsOfLayers } from "./layers";
import { lists, phrases, stages, summary, titles } from "./phrases.json";
import { whyQuery } from "./why_query";
import { fill, inLanguage, piece, type Meaning } from "./words";

export { factsOf, factsOfLayers, type Fact };
export { fill, number, particle, percent, quoted, shown } from "./words";

type Pair = readonly string[];

const PHRASES: Readonly<Record<string, Pair>> = phrases;
const SUMMARY: Readonly<Record<string, readonly Pair[]>> = summary;
const TITLES: Readonly<Record<string, Pair>> = titles;
const LIST_KINDS = new Set(lists);
const ONCE = ["analogies", "summary", "definition"]; // said once, of the last layer
const BY_HEAD = ["keys", "scores", "weights", "values", "why"];

/** For each stage: the formula, what it is in English, in Korean. */
export const STAGE_PHRASES: Readonly<Record<string, readonly string[]>> = stages;

/** One step of an explanation: its title and its sentences. */
export interface Section {
  readonly name: string;
  readonly title: string;
  readonly lines: readonly (readonly [isEntry: boolean, text: string])[];
  readonly layer: number | null;
}

/** So many heads are told one after the other where nobody says which. */
export const MOST_HEADS = 4;

/** One head of one layer. */
export interface Only {
  readonly layer: number;
  readonly head: number;
}

/**
 * What happened to one token, step by step.
 *
 * `pair`: the layers of a sentence that differs in other words. One layer is told as a record that stands alone,
 * unless `isReading` says that it is the only layer of a reading. `only`: the head that is told, of several.
 */
export function sectionsOf(
  layers: readonly Layer[],
  query: number,
  lang: Lang,
  pair: readonly Layer[] | null = null,
  isReading = layers.length > 1,
  only: Only | null = null,
): Section[] {
  const all = (): Fact[] => (isReading ? factsOfReading(layers, query, pair) : factsOf(layers[0], query));
  const facts = only === null ? all() : factsOfHead(layers, query, only, isReading);
  return new Telling(layers[0], query, lang, facts).sections();
}

/** All sentences as plain text. */
export function explainText(
  layers: readonly Layer[],
  query: number,
  lang: Lang,
  pair: readonly Layer[] | null = null,
  isReading = layers.length > 1,
  only: Only | null = null,
): string {
  const told = sectionsOf(layers, query, lang, pair, isReading, only).map(({ title, lines }, at) => {
    const texts = lines.map(([isEntry, text]) => `   ${isEntry ? "- " : ""}${text}`);
    return [`${at + 1}. ${title}`, ...texts].join("\n");
  });
  return `${told.join("\n\n")}\n`;
}

function factsOfReading(layers: readonly Layer[], query: number, pair: readonly Layer[] | null): Fact[] {
  const facts = layers.flatMap((layer, at) => factsOf(layer, query, at));
  const body = facts.filter((fact) => !ONCE.includes(fact.section));
  const tail = facts.filter((fact) => ONCE.includes(fact.section) && fact.layer === layers.length - 1);
  const several = layers.length > 1 ? factsOfLayers(layers, query, pair) : [];
  return [...body, ...several, ...tail.map((fact) => ({ ...fact, layer: null }))];
}

/** One head of one layer, and before all that it is one of several. */
function factsOfHead(layers: readonly Layer[], query: number, { layer: at, head }: Only, isReading: boolean): Fact[] {
  const layer = isReading ? at : null;
  const facts = factsOf(layers[at], query, layer, head).map((fact) => {
    return ONCE.includes(fact.section) ? { ...fact, layer: null } : fact;
  });
  const n_heads = layers[at].q.heads;
  if (n_heads === 1) return facts;
  return [{ section: "embedding", kind: "only.head", data: { head, n_heads }, head, layer }, ...facts];
}

/** Facts of one token as sections of sentences in one language. */
class Telling {
  private readonly token: string;
  private readonly meaning: Meaning;
  private readonly heads: ReadonlySet<number>;

  constructor(
    first: Layer,
    query: number,
    private readonly lang: Lang,
    private readonly facts: readonly Fact[],
  ) {
    this.token = namesOfTokens(first.tokens)[query];
    this.meaning = first.source.details.meaning ?? {};
    this.heads = new Set(facts.filter((fact) => BY_HEAD.includes(fact.section)).map((fact) => fact.head));
  }

  sections(): Section[] {
    const layers = [...new Set(this.facts.map((fact) => fact.layer))];
    layers.sort((a, b) => Number(a === null) - Number(b === null)); // what is said once for all comes last
    return layers.flatMap((layer) =>
      Object.keys(TITLES).flatMap((name) => {
        const facts = this.facts.filter((fact) => fact.layer === layer && fact.section === name);
        if (facts.length === 0) return [];
        return [{ name, title: this.title(name, layer), lines: [...this.lines(facts)], layer }];
      }),
    );
  }

  private title(name: string, layer: number | null): string {
    const title = fill(inLanguage(TITLES[name], this.lang), { token: this.token }, this.lang);
    return layer === null ? title : piece("layer", this.lang, { layer: String(layer), title });
  }

  private *lines(facts: readonly Fact[]): Generator<[boolean, string]> {
    let said: number | null = null;
    for (const fact of facts) {
      const { head } = fact;
      if (this.heads.size > 1 && BY_HEAD.includes(fact.section) && head !== said) {
        said = head;
        yield [false, fill(inLanguage(PHRASES.head, this.lang), { head, n_heads: this.heads.size }, this.lang)];
      }
      yield [LIST_KINDS.has(fact.kind), sentenceOf(fact, this.lang, this.meaning)];
    }
  }
}

function sentenceOf({ kind, data }: Fact, lang: Lang, meaning: Meaning): string {
  if (!kind.startsWith("summary.")) return fill(inLanguage(PHRASES[kind], lang), data, lang, meaning);
  const [name, role, question] = SUMMARY[kind.slice("summary.".length)][lang === "en" ? 0 : 1];
  return `${name}: ${role}. ${fill(question, data, lang)}`;
}

/** Why the query is what it is, step by step from what is wanted; nothing where the weights are not the wanted ones. */
export function whySentences(layer: Layer, head: number, query: number, lang: Lang): Section["lines"] {
  const facts = [...whyQuery(new Asked(layer, query, null), head)];
  if (!facts.some(({ kind }) => kind.startsWith("why.query"))) return [];
  return facts.map((fact) => [LIST_KINDS.has(fact.kind), sentenceOf(fact, lang, layer.source.details.meaning ?? {})]);
}

// one stage ----------------------------------------------------------------------------------------

/** What is so of this query (and key) at a stage; null where nothing is said or its numbers did not travel. */
type Say = (asked: Asked, head: number, key: number) => readonly (Fact | null)[];

const score: Say = (asked, head, key) => [scoreFact(asked, head, key)];

const AT_STAGE: Readonly<Record<Stage, Say>> = {
  x: (asked) => [asked.x && embeddingFact(asked, asked.x)],
  w_q: (asked, head) => [rowsFact(asked, head)],
  w_k: () => [],
  w_v: () => [],
  w_o: (asked) => [asked.output && joinedFact(asked, asked.output)],
  q: (asked, head) => [queryFact(asked, head)],
  k: (asked, head, key) => [keyFact(asked, head, key)],
  v: () => [],
  scores: score,
  scaled: score,
  allowed: (asked, head) => [barredFact(asked, head)],
  weights: (asked, head, key) => [readFact(asked, head, key, weightFact), shapeFact(asked, head, key)],
  weighted_values: (asked, head, key) => [readFact(asked, head, key, valueFact)],
  mixed: (asked) => [asked.output && !joinedFact(asked, asked.output) ? outputFact(asked, asked.output) : null],
  output: (asked) => [asked.output && outputFact(asked, asked.output)],
};

/** What is so of a key that is read, or that it is not. */
function readFact(
  asked: Asked,
  head: number,
  key: number,
  make: (asked: Asked, head: number, key: number) => Fact | null,
): Fact | null {
  return asked.row(head).allowed[key] ? make(asked, head, key) : barredFact(asked, head);
}

/** Why the row looks as it does; of ties, the one that the key is in. */
function shapeFact(asked: Asked, head: number, key: number): Fact | null {
  if (asked.readable.length === 0) return null;
  const facts = [...shape(asked, head)];
  const isOfKey = ({ kind, data }: Fact) =>
    !kind.startsWith("row.tied") || (data.keys as readonly string[]).includes(asked.keys[key]);
  return facts.reverse().find(isOfKey) ?? null;
}

/**
 * What a stage is, and what is so there of one query (and one key): a line of STAGE_PHRASES (none for w_*) and
 * at most two sentences of the explanation.
 */
export function stageSentences(
  layer: Layer,
  stage: Stage,
  head: number,
  query: number,
  key: number,
  lang: Lang,
): string[] {
  const asked = new Asked(layer, query, null);
  const line = Object.hasOwn(STAGE_PHRASES, stage) ? [STAGE_PHRASES[stage][lang === "en" ? 1 : 2]] : [];
  const facts = AT_STAGE[stage](asked, head, key).filter((fact) => fact !== null);
  const meaning = layer.source.details.meaning ?? {};
  return [...line, ...facts.map((fact) => sentenceOf(fact, lang, meaning))];
}
