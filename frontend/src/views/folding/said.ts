/** The sentences of explanation/variants.py in Python, of the same facts. */
import type { Fold, Folding } from "../../engine/folding";
import { namesOfTokens } from "../../engine/path";
import type { Lang, Layer } from "../../engine/record";
import { fill, number } from "../../explanation/words";
import phrases from "./phrases.json";

type Kind = keyof typeof phrases;
type Data = Parameters<typeof fill>[1];

const MOST_NAMED = 6; // keys of a tile; of a wider one the first and the last are named

function sentence(kind: Kind, data: Data, lang: Lang): string {
  return fill(phrases[kind][lang === "en" ? 0 : 1].replaceAll("{top:b}", "{top_bracketed:e}"), data, lang);
}

export function titleOf(layer: Layer, query: number, lang: Lang): string {
  return sentence("title", { token: namesOfTokens(layer.tokens)[query] }, lang);
}

export function aboutOf(layer: Layer, head: number, query: number, tile: number, lang: Lang): string {
  return sentence("flash.about", { token: namesOfTokens(layer.tokens)[query], head, n: layer.k.rows, tile }, lang);
}

/** What is said before the first tile; "" where nothing is. */
export function startSaid({ start }: Folding, lang: Lang): string {
  return start.top === null ? "" : sentence("flash.sink", { top: start.top }, lang);
}

/** What one tile does. */
export function foldSaid(layer: Layer, query: number, fold: Fold, at: number, lang: Lang): string {
  const read = namesOfTokens(layer.keyTokens ?? layer.tokens);
  const keys = namesOf(read.slice(fold.from, fold.to));
  const numbers: Data = {
    token: namesOfTokens(layer.tokens)[query],
    scores: fold.scores,
    before: fold.before.total,
    added: fold.added,
    rescale: fold.rescale,
    total: fold.after.total,
    mixed: fold.after.mixed ?? [],
    top: fold.after.top ?? 0,
    top_before: fold.before.top ?? 0,
    top_bracketed: bracketed(fold.after.top ?? 0),
  };
  const first = sentence("keys" in keys ? "flash.few_keys" : "flash.many_keys", { at: at + 1, ...keys }, lang);
  return first + sentence(kindOf(fold), numbers, lang);
}

/** What comes at the end: the row, or that there is none. */
export function endSaid(layer: Layer, query: number, tile: number, folding: Folding, lang: Lang): string {
  const token = namesOfTokens(layer.tokens)[query];
  const last = folding.folds[folding.folds.length - 1].after;
  if (last.top === null || folding.lse === null) return sentence("flash.empty", { token }, lang);
  const sums = { sums: last.mixed ?? [], mixed: folding.mixed ?? [] };
  return sentence("flash.end", { ...sums, total: last.total, top: last.top, lse: folding.lse, tile, n: layer.k.rows }, lang);
}

function namesOf(names: readonly string[]): Readonly<Record<string, string | number | readonly string[]>> {
  if (names.length <= MOST_NAMED) return { keys: names };
  return { n_keys: names.length, first: names[0], last: names[names.length - 1] };
}

function kindOf({ read, before, after }: Fold): Kind {
  if (read.length === 0) return "flash.nothing";
  if (before.top === null) return "flash.first";
  return before.top === after.top ? "flash.same" : "flash.rescaled";
}

function bracketed(value: number): string {
  const text = number(value);
  return text.startsWith("-") ? `(${text})` : text;
}
