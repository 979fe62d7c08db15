import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, type Sheet } from "../src/engine/sheet";
import { lostIn, toYaml } from "../src/engine/yaml";
import { drawn, layerOf, random, rich, sheetOf, small, sourceOf, tableOf } from "./sheet_cases";

/** The lines of a file that begin a section, or stand in it. */
function section(sheet: Sheet, name: string): string | undefined {
  return toYaml(sheet)
    .split(/\n(?=\S)/)
    .find((part) => part.startsWith(`${name}:`))
    ?.trimEnd();
}

function withTokens(...words: string[]): Sheet {
  const w = tableOf([[1]]);
  const layer = layerOf({ w_q: w, w_k: w, w_v: w, source: sourceOf({ focus: 0 }) });
  return sheetOf(words, ["X"], drawn(words.length, 1, random(1)), [layer]);
}

test("a matrix in the simplest of its forms", () => {
  const weights = (rows: readonly (readonly number[])[]) =>
    section(small({ w_v: tableOf(rows) }), "weights")?.split("\n");
  const last = (rows: readonly (readonly number[])[]) => weights(rows)?.at(-1)?.trim();
  const w_v = "w_v: ";
  assert.equal(
    last([
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ]),
    `${w_v}identity`,
  );
  assert.equal(
    last([
      [1, 0, 0],
      [0, 2, 0],
      [0, 0, 1],
    ]),
    `${w_v}{diagonal: {Animal: 2}, otherwise: 1}`,
  );
  assert.equal(
    last([
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 5],
    ]),
    `${w_v}{diagonal: {Action: 5}, otherwise: 0}`,
  );
  assert.equal(
    last([
      [0, 0, 0],
      [7, 0, 0],
      [0, 0, 0],
    ]),
    `${w_v}{rows: {Animal: {Word: 7}}, otherwise: zero}`,
  );
  assert.equal(
    last([
      [1, 0, 0],
      [7, 0, 0],
      [0, 0, 1],
    ]),
    `${w_v}{rows: {Animal: {Word: 7}}, otherwise: identity}`,
  );
  assert.equal(
    last([
      [1, 0.1],
      [-0.5, 1e-7],
      [0, 1e21],
    ]),
    `${w_v}[[1, 0.1], [-0.5, 1e-7], [0, 1e+21]]`,
  );
});

test("the token to look at is named, by number where it stands twice, and not where that is another's text", () => {
  assert.equal(section(withTokens("a", "b"), "focus"), "focus: a");
  assert.equal(section(withTokens("a", "a"), "focus"), 'focus: "a#1"');
  assert.equal(section(withTokens("a", "a", "a#1"), "focus"), undefined);
});

test("a mask in the words of the file", () => {
  const mask = (allowed: Sheet["layers"][0]["allowed"]) => section(small({ allowed }), "mask");
  const [causal, keys] = [{ kind: "causal", offset: 0 } as const, Uint8Array.of(1, 1, 0, 0)];
  assert.equal(mask({ kind: "everything" }), undefined);
  assert.equal(mask(causal), "mask: causal");
  assert.equal(mask({ kind: "window", n_back: 2, n_ahead: 1, offset: 0 }), "mask: {window: [2, 1]}");
  assert.equal(mask({ kind: "padding", keys }), "mask: {padding: [saw, it]}");
  assert.equal(mask({ kind: "document", ids: Int32Array.of(9, 9, 4, 9), offset: 0 }), "mask: {document: [0, 0, 1, 0]}");
  const both = {
    kind: "both",
    first: { kind: "both", first: causal, second: { kind: "padding", keys } },
    second: causal,
  } as const;
  assert.equal(mask(both), "mask: {all: [causal, {padding: [saw, it]}, causal]}");
  const after = edited(small({ allowed: causal }), { set: "allowed", layer: 0, row: 0, column: 1, value: true });
  const rows = ["[1, 1, 0, 0]", "[1, 1, 0, 0]", "[1, 1, 1, 0]", "[1, 1, 1, 1]"];
  assert.equal(section(after, "mask"), ["mask:", ...rows.map((row) => `  - ${row}`)].join("\n"));
  assert.equal(mask({ kind: "causal", offset: 3 }), undefined);
});

test("the position code is in the x of the first layer already", () => {
  const coded = small({ coded: true });
  assert.equal(section(coded, "positions"), undefined);
  const second = { ...coded.layers[0], residual: true };
  assert.match(toYaml({ ...coded, layers: [second, second] }), /^ {4}positions: sinusoidal$/m);
});

test("what cannot be seen, or turns the direction of writing, stands as its code", () => {
  const words = ['"\\', "a\u202eb", "\n\t", "\u{e0001}", "한국어 🙂", "no: x"];
  const names = ['"\\"\\\\"', '"a\\u202eb"', '"\\n\\x09"', '"\\U000e0001"', '"한국어 🙂"', '"no: x"'];
  const lines = section(withTokens(...words), "tokens")
    ?.split("\n")
    .slice(1);
  assert.deepEqual(
    lines?.map((line) => line.replace(/^ {2}- (.*): \{X: .*$/, "$1")),
    names,
  );
});

test("what an example file cannot say is said to be left out", () => {
  assert.deepEqual(lostIn(small()), []);
  const lost = lostIn(rich(1)).filter(({ layer }) => layer === 0);
  assert.deepEqual(
    lost.map(({ what }) => what),
    ["softcap", "sink", "rotary"],
  );
  const notes = toYaml(rich(1))
    .split("\n")
    .filter((line) => line.startsWith("#"));
  assert.equal(notes.length, 6);
  assert.match(notes[0], /layer 0, the soft cap \/ .*소프트캡$/);
});

test("a file that is too large to be read says so", () => {
  const wide = (n: number) => {
    const draw = random(1);
    const w = { w_q: drawn(n, n, draw), w_k: drawn(n, n, draw), w_v: drawn(n, n, draw) };
    const table = { kind: "table", columns: n, cells: Uint8Array.from({ length: n * n }, (_, at) => at % 2) } as const;
    const words = Array.from({ length: n }, (_, at) => `t${at}`);
    return toYaml(sheetOf(words, null, drawn(n, n, draw), [layerOf({ ...w, allowed: table })]));
  };
  assert.match(wide(64), /^# More numbers than jumok\.load reads/);
  assert.doesNotMatch(wide(60), /^#/);
});
