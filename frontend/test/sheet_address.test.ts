import assert from "node:assert/strict";
import { test } from "node:test";
import { packed, unpacked } from "../src/engine/address";
import { edited, layersOf, Refused, type Edit, type Sheet } from "../src/engine/sheet";
import { toYaml } from "../src/engine/yaml";
import { deep, small } from "./sheet_cases";

function assertSame(sheet: Sheet, again: Sheet): void {
  assert.equal(toYaml(again), toYaml(sheet));
  assert.deepEqual(again.tokens, sheet.tokens);
  const parts = (one: Sheet) =>
    layersOf(one).map(({ q, k, v, source, rule }) => [q, k, v, source, rule.scale, rule.bias]);
  assert.deepEqual(parts(again), parts(sheet));
}

const EDITS: readonly (readonly Edit[])[] = [
  [{ set: "x", layer: 0, row: 0, column: 1, value: 0.1 + 0.2 }],
  [
    { set: "allowed", layer: 0, row: 0, column: 1, value: false },
    { set: "temperature", layer: 0, value: 3 },
  ],
  [{ set: "scale", layer: 0, value: 0.1 }],
  [
    { rename: "token", at: 0, text: "</script>" },
    { move: "token", from: 0, to: 2 },
  ],
  [
    { add: "token", at: 1, text: "한국어 🙂" },
    { remove: "token", at: 0 },
    { set: "x", layer: 0, row: 0, column: 0, value: 7 },
  ],
  [
    { add: "dimension", at: 0, text: "New" },
    { rename: "dimension", at: 2, text: "한국어" },
    { move: "dimension", from: 0, to: 1 },
  ],
];

test("a link carries every edit", () => {
  const table = {
    kind: "bias_table",
    array: { heads: 1, rows: 4, width: 4, values: Float64Array.from({ length: 16 }, (_, at) => at) },
  } as const;
  const document = { kind: "document", ids: Int32Array.of(0, 0, 1, 1), offset: 0 } as const;
  for (const original of [small(), deep(), small({ bias: table, allowed: document })]) {
    for (const edits of EDITS) {
      const sheet = edits.reduce(edited, original);
      const text = packed(sheet, original);
      assert.match(text ?? "", /^[\w.-]+$/);
      assertSame(sheet, unpacked(text ?? "", original));
    }
  }
  const all = [...EDITS.flat()].reduce(edited, small());
  assertSame(all, unpacked(packed(all, small()) ?? "", small()));
});

test("it carries only what differs", () => {
  const original = small();
  assert.equal(packed(original, original), null);
  const after = edited(original, { set: "x", layer: 0, row: 0, column: 0, value: 2 });
  assert.ok((packed(after, original) ?? "").length < 80);
  assert.equal(packed(edited(after, { set: "x", layer: 0, row: 0, column: 0, value: 1 }), original), null);
});

function refusedAs(text: string, original: Sheet): string {
  try {
    unpacked(text, original);
  } catch (error) {
    assert.ok(error instanceof Refused, String(error));
    return error.reason;
  }
  return "taken";
}

test("a link that was cut or changed is refused, at every letter", () => {
  const text = packed(EDITS[4].reduce(edited, small()), small()) ?? "";
  for (let at = 0; at < text.length; at++) {
    assert.equal(refusedAs(text.slice(0, at), small()), "damaged");
    const other = text[at] === "A" ? "B" : "A";
    assert.equal(refusedAs(text.slice(0, at) + other + text.slice(at + 1), small()), "damaged", `letter ${at}`);
  }
  for (const wrong of ["", ".", "💥", "a.b.c", `${text}.`, "%00"])
    assert.equal(refusedAs(wrong, small()), "damaged", wrong);
});

test("a link to another example is refused as such", () => {
  const text = packed(EDITS[0].reduce(edited, small()), small()) ?? "";
  assert.equal(refusedAs(text, deep()), "another_example");
});

/** What somebody could write who knows the format. */
function forged(parts: object): string {
  const of = JSON.parse(atob((packed(EDITS[0].reduce(edited, small()), small()) ?? "").split(".")[0])).of;
  const text = JSON.stringify({ of, ...parts });
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}.${(hash >>> 0).toString(36)}`;
}

test("what a forged link holds is checked as an edit is", () => {
  const layer = (parts: object) => ({ layers: { 0: parts } });
  const wrong: Record<string, object[]> = {
    damaged: [
      { tokens: [] },
      { tokens: [0, 0] },
      { tokens: [4] },
      { tokens: "abc" },
      { tokens: [["0", "a"]] },
      { tokens: Array(65).fill([null, "a"]) },
      { dimensions: ["A"] },
      { dimensions: "A" },
      { x: { cells: [99, 1] } },
      { x: { cells: [-1, 1] } },
      { x: { cells: 3 } },
      { x: [] },
      { x: { size: [2, 3], cells: [] } },
      { x: { size: [1e9, 1e9], cells: [] } },
      { layers: { 1: {} } },
      { layers: [] },
      { layers: { 0: 1 } },
      { layers: JSON.parse('{"__proto__": {}}') },
      layer({ allowed: "ff" }),
      layer({ allowed: "zzzz" }),
      layer({ allowed: 3 }),
      layer({ numbers: { w_q: { size: [3, 0], cells: [] } } }),
      layer({ numbers: { w_k: { size: [3, 2], cells: [] } } }),
      { said: { focus: 4 } },
      { said: { sentence: 3 } },
      { said: { meaning: 3 } },
      { said: { meaning: { a: 3 } } },
      { said: 3 },
    ],
    not_a_number: [
      { x: { cells: [0] } },
      { x: { cells: [0, null] } },
      { x: { cells: [0, "1"] } },
      layer({ scale: "2" }),
    ],
    too_large: [{ x: { cells: [0, 1e200] } }, layer({ numbers: { w_q: { cells: [0, 1e200] } } })],
    not_in_range: [layer({ scale: 0 }), layer({ temperature: -1 })],
    not_text: [
      { tokens: [[0, 3], 1, 2, 3] },
      { tokens: [[0]] },
      { dimensions: [1, 2, 3] },
      { said: { meaning: { a: { en: 3 } } } },
    ],
    too_long: [{ tokens: [[0, "a".repeat(201)], 1, 2, 3] }],
    no_name: [{ dimensions: ["A", "", "C"] }],
    name_twice: [{ dimensions: ["A", "A", "C"] }],
    nothing_allowed: [layer({ allowed: "0000" })],
  };
  for (const [reason, parts] of Object.entries(wrong)) {
    for (const one of parts) assert.equal(refusedAs(forged(one), small()), reason, JSON.stringify(one).slice(0, 80));
  }
  assert.equal(refusedAs(forged({ x: { cells: [0, 2] } }), small()), "taken");
  assert.equal(({} as Record<string, unknown>).en, undefined);
});
