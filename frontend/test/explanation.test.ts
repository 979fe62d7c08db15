/** What Python cannot compare: records of the page alone (no values, sums that travelled), and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lseAt } from "../src/engine/path";
import { layersOf } from "../src/engine/sheet";
import { SHOWN, type Lang, type Layer } from "../src/engine/record";
import { explainText, factsOf, sectionsOf, stageSentences, STAGE_PHRASES } from "../src/explanation/explain";
import { fill, number } from "../src/explanation/words";
import { deep, small } from "./sheet_cases";

const LANGS: readonly Lang[] = ["en", "ko"];

function withoutValues(layer: Layer): Layer {
  return { ...layer, v: null };
}

test("of a layer whose values did not travel, all is told that does not need them", () => {
  const [layer] = layersOf(small());
  const whole = sectionsOf([layer], 1, "ko");
  const part = sectionsOf([withoutValues(layer)], 1, "ko");
  const needing = ["values", "output", "change"];
  const names = whole.map(({ name }) => name).filter((name) => !needing.includes(name));
  assert.deepEqual(part.map(({ name }) => name), names);
  const told = whole.flatMap(({ lines }) => lines.map(([, text]) => text));
  for (const [, text] of part.flatMap(({ lines }) => lines)) assert.ok(told.includes(text), text);
});

test("a stage whose numbers did not travel has its own line and no more", () => {
  const layer = withoutValues(layersOf(small())[0]);
  for (const stage of ["v", "weighted_values", "mixed", "output"] as const) {
    assert.deepEqual(stageSentences(layer, stage, 0, 0, 1, "en"), [STAGE_PHRASES[stage][1]]);
  }
});

test("every stage says something in both languages, and no more than three sentences", () => {
  const [layer] = layersOf(small());
  for (const stage of SHOWN.filter((name) => !/^w_[kvo]$/.test(name))) {
    const [en, ko] = LANGS.map((lang) => stageSentences(layer, stage, 0, 1, 0, lang));
    assert.equal(en.length, ko.length);
    assert.ok(en.length >= 1 && en.length <= 3, stage);
    assert.notDeepEqual(en, ko);
  }
});

test("sums that travelled change no sentence", () => {
  const [layer] = layersOf(small());
  const lse = Float32Array.from({ length: layer.q.rows }, (_, query) => lseAt(layer, 0, query));
  for (const query of layer.tokens.keys()) {
    assert.equal(explainText([{ ...layer, lse }], query, "en"), explainText([layer], query, "en"));
  }
});

test("one layer stands alone, unless it is the only one of a reading", () => {
  const layers = layersOf(deep());
  const title = (isReading?: boolean) => sectionsOf([layers[0]], 0, "en", null, isReading)[0].title;
  assert.match(title(), /^Embedding/);
  assert.match(title(true), /^Layer 0 · Embedding/);
  assert.deepEqual(new Set(sectionsOf(layers, 0, "en").map(({ layer }) => layer)), new Set([0, 1, null]));
});

test("a fact tells where it belongs", () => {
  const facts = factsOf(layersOf(deep())[1], 2, 1);
  assert.ok(facts.length > 20);
  assert.ok(facts.every(({ layer, head }) => layer === 1 && head === 0));
});

test("a sentence is not filled with what is not there", () => {
  assert.throws(() => fill("{token} and {toString}", { token: "a" }, "en"), /needs the fact toString/);
});

test("what is no number is shown as such", () => {
  assert.deepEqual([NaN, Infinity].map(number), ["NaN", "Infinity"]);
});
