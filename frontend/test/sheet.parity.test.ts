/**
 * What the sheet makes of every record in the folder JUMOK_SHEETS, which tests/frontend/test_sheet.py fills and where
 * it reads the report: example files and stages, unedited and after edits.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDocument } from "../src/engine/container";
import { packed, unpacked } from "../src/engine/address";
import { stageOf } from "../src/engine/path";
import type { Layer } from "../src/engine/record";
import { edited, layersOf, Refused, sheetOf, type Edit, type Sheet } from "../src/engine/sheet";
import { lostIn, toYaml } from "../src/engine/yaml";
import { originErrors } from "./origin_sums";
import { random } from "./sheet_cases";

const HOSTILE = [
  `it's "quoted"`,
  "a: b",
  "# not a comment",
  "| block",
  "</script><script>alert(1)</script>",
  "two\nlines",
  "🙂‍↕️",
  "שלום",
  "\u202eturned",
  "",
  "no",
  "null",
  "- item",
  "*alias",
  "!tag",
  "{",
  "%",
  "@",
  "`",
  "2026",
  "1e3",
  "a#2",
  "\u0000",
  " space ",
];

const PROJECTED = ["w_q", "w_k", "w_v", "w_o"] as const;
const STAGES = ["x", "q", "k", "v", "scores", "scaled", "weights", "mixed", "output"] as const;

function openedLayers(path: string): Layer[] {
  const file = readFileSync(path);
  const length = Number(file.readBigUInt64LE(0));
  const bytes = new DataView(file.buffer, file.byteOffset + 8 + length, file.length - 8 - length);
  const document = openDocument(file.toString("utf8", 8, 8 + length), bytes, () =>
    Promise.reject(new Error("all is here")),
  );
  return document.facts.map((_, at) => document.layer(at) as Layer);
}

function numbersOf(layers: readonly Layer[]) {
  return layers.map((layer) => {
    const ofHeads = (stage: (typeof STAGES)[number]) =>
      Array.from({ length: layer.q.heads }, (_, head) => Array.from(stageOf(layer, stage, head).values));
    return Object.fromEntries(STAGES.map((stage) => [stage, ofHeads(stage)]));
  });
}

/** Every kind of edit, one after the other where it fits. */
function editsOf(sheet: Sheet): Record<string, Edit[]> {
  const renames = sheet.tokens.map((_, at): Edit => ({ rename: "token", at, text: HOSTILE[at % HOSTILE.length] }));
  const hostile = HOSTILE.map((text): Edit => ({ add: "token", at: 0, text }));
  const named: Edit[] = sheet.dimensions ? [{ rename: "dimension", at: 0, text: `a: "b" #` }] : [];
  const last = sheet.layers.length - 1;
  return {
    cells: [
      { set: "x", layer: 0, row: 1, column: 0, value: -0.1234567890123456 },
      { set: "w_q", layer: last, row: 0, column: 1, value: 1e-7 },
      { set: "w_v", layer: 0, row: 1, column: 1, value: 123456789.125 },
    ],
    rule: [
      { set: "allowed", layer: 0, row: 0, column: 1, value: false },
      { set: "scale", layer: last, value: 0.3 },
      { set: "temperature", layer: 0, value: 1.7 },
    ],
    temperature: [{ set: "temperature", layer: last, value: 0.2 }],
    renamed: renames,
    hostile,
    tokens: [
      { add: "token", at: 1, text: "new" },
      { move: "token", from: 0, to: 2 },
      { remove: "token", at: 0 },
    ],
    dimensions: [
      ...named,
      { add: "dimension", at: 1, text: "no" },
      { set: "x", layer: 0, row: 0, column: 1, value: 2 },
      { move: "dimension", from: 0, to: 2 },
      { remove: "dimension", at: 1 },
    ],
  };
}

/** Edits drawn at random from all kinds; those that are refused change nothing. */
function wandered(sheet: Sheet, seed: number): Sheet {
  const draw = random(seed);
  const whole = (n: number) => Math.min(n - 1, Math.floor(((draw() + 1) / 2) * n));
  let now = sheet;
  for (let step = 0; step < 40; step++) {
    const layer = whole(now.layers.length);
    const [n, d] = [now.tokens.length, now.x.columns];
    const edits: Edit[] = [
      { set: "x", layer, row: whole(n), column: whole(d), value: draw() * 3 },
      { set: PROJECTED[whole(4)], layer, row: whole(d), column: whole(d), value: draw() * 10 ** whole(9) },
      { set: "allowed", layer, row: whole(n), column: whole(n), value: draw() > 0 },
      { set: "scale", layer, value: draw() > 0 ? null : draw() + 1.01 },
      { set: "temperature", layer, value: draw() + 1.01 },
      { add: "token", at: whole(n + 1), text: HOSTILE[whole(HOSTILE.length)] },
      { rename: "token", at: whole(n), text: HOSTILE[whole(HOSTILE.length)] },
      { remove: "token", at: whole(n) },
      { move: "token", from: whole(n), to: whole(n) },
      { add: "dimension", at: whole(d + 1), text: HOSTILE[whole(HOSTILE.length)] },
      { rename: "dimension", at: whole(d), text: HOSTILE[whole(HOSTILE.length)] },
      { remove: "dimension", at: whole(d) },
      { move: "dimension", from: whole(d), to: whole(d) },
    ];
    try {
      now = edited(now, edits[whole(edits.length)]);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }
  return now;
}

function variantOf(sheet: Sheet, after: Sheet) {
  const address = packed(after, sheet);
  const again = address === null ? sheet : unpacked(address, sheet);
  return {
    yaml: toYaml(after),
    lost: lostIn(after).map(({ what }) => what),
    tokens: after.tokens.map((token) => token.text),
    layers: numbersOf(layersOf(after)),
    fromAddress: { yaml: toYaml(again), layers: numbersOf(layersOf(again)) },
  };
}

const folder = process.env.JUMOK_SHEETS ?? "";
const names = readdirSync(folder).filter((name) => name.endsWith(".safetensors"));
const report: Record<string, unknown> = {};

test("there is something to compare", () => assert.ok(names.length > 0));

for (const name of names) {
  test(name, () => {
    const layers = openedLayers(join(folder, name));
    assert.deepEqual(originErrors(layers), []);
    const sheet = sheetOf(layers);
    assert.ok(sheet);
    assert.deepEqual(originErrors(layersOf(sheet)), []);
    const variants = Object.entries({ unedited: [], ...editsOf(sheet) }).map(([kind, edits]) => {
      return [kind, variantOf(sheet, edits.reduce(edited, sheet))];
    });
    const walks = [1, 2, 3, 4].map((seed) => [`walk ${seed}`, variantOf(sheet, wandered(sheet, seed))]);
    report[name] = Object.fromEntries([...variants, ...walks]);
  });
}

test("what was made is told", () => writeFileSync(join(folder, "report.json"), JSON.stringify(report)));
