/**
 * Against Python: what the page says of the records in the folder JUMOK_TEXTS is written there as texts.json.
 * tests/frontend/test_explanation.py fills the folder, and compares.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDocument } from "../src/engine/container";
import { rowOf } from "../src/engine/path";
import { STAGES, type Lang, type Layer, type Stage } from "../src/engine/record";
import { explainText, stageSentences, type Only } from "../src/explanation/explain";
import { number, particle, percent, quoted, shown } from "../src/explanation/words";

interface Cases {
  readonly records: readonly { readonly file: string; readonly pair: string | null; readonly queries: number }[];
  readonly numbers: readonly number[];
  readonly shares: readonly number[];
  readonly words: readonly string[];
  readonly pairs: readonly string[];
}

const LANGS: readonly Lang[] = ["en", "ko"];
const folder = process.env.JUMOK_TEXTS ?? "";
const { records, numbers, shares, words, pairs } = JSON.parse(
  readFileSync(join(folder, "cases.json"), "utf8"),
) as Cases;

function opened(file: string): { layers: Layer[]; isReading: boolean } {
  const bytes = readFileSync(join(folder, file));
  const size = Number(bytes.readBigUInt64LE(0));
  const header = bytes.toString("utf8", 8, 8 + size);
  const view = new DataView(bytes.buffer, bytes.byteOffset + 8 + size, bytes.length - 8 - size);
  const document = openDocument(header, view, () => Promise.reject(new Error("all bytes are here")));
  return { layers: document.facts.map((_, at) => document.layer(at) as Layer), isReading: document.kind === "reading" };
}

function said({ file, pair, queries }: Cases["records"][number]) {
  const { layers, isReading } = opened(file);
  const other = pair === null ? null : opened(pair).layers;
  return Array.from({ length: queries }, (_, query) => ({
    texts: LANGS.map((lang) => explainText(layers, query, lang, other, isReading)),
    alone: LANGS.map((lang) => explainText(layers, query, lang, other, isReading, oneOf(layers, query))),
    stages: LANGS.map((lang) => STAGES.map((stage) => saidOfKeys(layers[0], stage, query, lang))),
  }));
}

/** A layer and a head, another one for every query. */
function oneOf(layers: readonly Layer[], query: number): Only {
  const layer = query % layers.length;
  return { layer, head: query % layers[layer].q.heads };
}

/** What is said of every key that the explanation tells one by one, in some head. */
function saidOfKeys(layer: Layer, stage: Stage, query: number, lang: Lang): string[][] {
  return Array.from({ length: layer.k.rows }, (_, key) => key).flatMap((key) => {
    const head = key % layer.q.heads;
    const { weights } = rowOf(layer, head, query);
    const isTold = weights.length <= 12 || weights.filter((weight) => weight >= weights[key]).length <= 12;
    return isTold ? [stageSentences(layer, stage, head, query, key, lang)] : [];
  });
}

test("there is something to say", () => {
  for (const given of [records, numbers, shares, words, pairs]) assert.ok(given.length > 0);
});

test("all of it is said", () => {
  const texts = {
    records: records.map(said),
    numbers: numbers.map(number),
    shares: shares.map(percent),
    words: words.map((word) => [
      shown(word),
      ...LANGS.map((lang) => quoted(word, lang)),
      ...pairs.map((pair) => particle(word, pair)),
    ]),
  };
  writeFileSync(join(folder, "texts.json"), JSON.stringify(texts));
});
