/** What a lesson's page decides by itself: numbers drawn, answers judged, progress kept. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluated, Unanswerable } from "../src/engine/expressions";
import { functionsOf } from "../src/engine/functions";
import { namesOfTokens } from "../src/engine/path";
import { drawn, isNear, isOfOther, judged, verdictOf } from "../src/views/lesson/asking";
import { Kept, type Store } from "../src/views/lesson/kept";
import type { Question, Typed } from "../src/views/lesson/lesson";

const TYPED: Typed = { letters: {}, pattern: "^(?:([0-9]+)|(,)|(,)|(,)|(nine))$", words: { nine: 9 } };

const QUESTION: Question = {
  kind: "question", id: "dot", hints: [], ask: [], draws: [["a", [1, 2]], ["t", ["cat"]]], sets: [],
  answer: "a*2", tolerance: null, mistakes: [["a*2", [["plain", ["never"]]]], ["a + 10", [["plain", ["a slip"]]]]], after: [],
};

// numbers and answers ------------------------------------------------------------------------------

test("near enough: half a hundredth, or as the question says", () => {
  assert.ok(isNear(1, 1.005, null));
  assert.ok(!isNear(1, 1.0051, null));
  assert.ok(isNear(200, 201, null));
  assert.ok(isNear(0.1, 0.1049, null));
  assert.ok(!isNear(1, 1.02, 0.01));
  assert.ok(isNear("cat", "cat", null));
  assert.ok(!isNear("1", 1, null));
});

test("an answer is right, a slip that has a name, wrong, or no number", () => {
  const compute = (expression: string) => evaluated(expression, { a: 4 }, functionsOf("", new Map()));
  assert.deepEqual(judged(QUESTION, "8", compute, TYPED), { kind: "right" });
  assert.deepEqual(judged(QUESTION, "14", compute, TYPED), { kind: "slip", said: [["plain", ["a slip"]]] });
  assert.deepEqual(judged(QUESTION, "9", compute, TYPED), { kind: "wrong" });
  assert.deepEqual(judged(QUESTION, "nine", compute, TYPED), { kind: "wrong" });
  assert.deepEqual(judged(QUESTION, "eight", compute, TYPED), { kind: "no_number" });
  assert.deepEqual(judged({ ...QUESTION, answer: "a + 0.5" }, "nine", compute, TYPED), { kind: "no_number" });
  const word = { ...QUESTION, answer: "'은행'" };
  assert.deepEqual(judged(word, " 은행 ".normalize("NFD"), compute, TYPED), { kind: "right" });
});

test("numbers are drawn from all values, and others than before", () => {
  const seen = new Set<string>();
  let before = drawn(QUESTION);
  for (let n = 0; n < 40; n += 1) {
    const next = drawn(QUESTION, before);
    assert.notDeepEqual(next, before);
    assert.equal(next.t, "cat");
    before = next;
    seen.add(String(next.a));
  }
  assert.deepEqual(seen, new Set(["1", "2"]));
  assert.deepEqual(drawn({ ...QUESTION, draws: [] }, {}), {}, "nothing to draw ends too");
  assert.deepEqual(drawn({ ...QUESTION, sets: [{ a: 7, t: "mat" }] }), { a: 7, t: "mat" }, "of what was measured");
  assert.deepEqual(drawn(QUESTION, null, () => 0.999).a, 2);
});

test("a verdict is what jumok check --json says", () => {
  const plain = { format: "jumok-verdict", version: 1, status: "right-differently", kind: "softmax", text: { en: "so" } };
  const said = `$ jumok check\n${JSON.stringify(plain)}\n$`;
  assert.deepEqual(verdictOf(said), { isRight: true, kind: "softmax", text: { en: "so" } });
  for (const status of ["mistake", "unknown", "rightly", ""]) {
    assert.equal(verdictOf(JSON.stringify({ ...plain, status }))!.isRight, false, status);
  }
  for (const text of ["", "right", "{", "{}", "[1]", "null", JSON.stringify({ ...plain, format: "other" })]) {
    assert.equal(verdictOf(text), null, text);
  }
});

test("code that cannot run is of no other kind: the verdict itself says what happened", () => {
  const of = (kind: string | null) => verdictOf(JSON.stringify({ format: "jumok-verdict", status: "unknown", kind, text: { en: "line 1" } }))!;
  for (const kind of ["", null, "softmax"]) assert.equal(isOfOther(of(kind), "softmax"), false, String(kind));
  assert.equal(isOfOther(of("causal"), "softmax"), true);
});

// expressions --------------------------------------------------------------------------------------

test("an expression reaches nothing but what it was given", () => {
  const hostile = ["constructor", "toString()", "__proto__", "hasOwnProperty(1)", "valueOf()", "window", "a.b", "`x`", "a => a"];
  for (const text of hostile) {
    assert.throws(() => evaluated(text, {}, functionsOf("", new Map())), Unanswerable, text);
  }
});

test("tokens that stand twice have numbers", () => {
  const token = (text: string) => ({ text, span: null, label: { text, part: 1, parts: 1, raw: null, special: false } });
  assert.deepEqual(namesOfTokens(["a", "b", "a"].map(token)), ["a#1", "b", "a#2"]);
});

// progress -----------------------------------------------------------------------------------------

function storage(): Store & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return { kept, getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => void kept.set(name, text) };
}

test("what was done is kept once, and read again", () => {
  const store = storage();
  const first = new Kept(() => store);
  first.add("small", "dot", "right");
  first.add("small", "dot", "right");
  first.add("small", "most", "guessed");
  const again = new Kept(() => store);
  assert.equal(again.done.value.length, 2);
  assert.ok(again.has("small", "dot", "right"));
  assert.ok(!again.has("small", "most", "right"));
  assert.ok(!again.has("other", "dot", "right"));
  assert.match(again.done.value[0].when, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
});

test("two pages add to the same list", () => {
  const store = storage();
  const [one, other] = [new Kept(() => store), new Kept(() => store)];
  one.add("small", "dot", "right");
  other.add("small", "most", "right");
  assert.equal(new Kept(() => store).done.value.length, 2);
});

test("a file is brought once; another file is none", () => {
  const [one, other] = [new Kept(storage), new Kept(storage)];
  one.add("small", "dot", "right");
  assert.equal(other.bring(one.exported()), 1);
  assert.equal(other.bring(one.exported()), 0);
  assert.deepEqual(other.done.value, one.done.value);
  for (const text of ["", "[]", "{}", '{"format": "jumok-progress", "done": 3}']) assert.equal(other.bring(text), null, text);
  const odd = { format: "jumok-progress", done: [null, 1, {}, { lesson: "a", id: "b", how: "clicked", when: "" }] };
  assert.equal(other.bring(JSON.stringify(odd)), 0);
});

test("a storage that refuses is told, and nothing is lost while the page is open", () => {
  const refused = new Kept(() => {
    throw new Error("no");
  });
  assert.ok(refused.isRefused.value);
  refused.add("small", "dot", "right");
  refused.add("small", "most", "right");
  refused.keep("code", "x = 1");
  assert.equal(refused.done.value.length, 2);
  assert.equal(refused.draft("code"), "x = 1");
  const full = new Kept(() => ({ ...storage(), setItem: () => assert.fail("full") }));
  assert.ok(!full.isRefused.value);
  full.add("small", "dot", "right");
  assert.ok(full.isRefused.value);
});
