import assert from "node:assert/strict";
import { test } from "node:test";
import { changes } from "../src/engine/changes";
import { stageOf } from "../src/engine/path";
import type { Layer, Stage } from "../src/engine/record";
import { edited, layersOf, numberOf, Refused, sheetOf, type Edit, type Reason, type Sheet } from "../src/engine/sheet";
import { deep, drawn, identity, layerOf, random, rich, sheetOf as sheetFrom, small, tableOf } from "./sheet_cases";

function stage(sheet: Sheet, name: Stage, layer = 0, head = 0): number[] {
  return Array.from(stageOf(layersOf(sheet)[layer], name, head).values);
}

function rows(sheet: Sheet, name: Stage, layer = 0): number[][] {
  const { columns, values } = stageOf(layersOf(sheet)[layer], name, 0);
  return Array.from({ length: values.length / columns }, (_, at) =>
    Array.from(values.subarray(at * columns, (at + 1) * columns)),
  );
}

function assertNear(actual: readonly number[], expected: readonly number[]): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, at) =>
    assert.ok(Math.abs(value - expected[at]) <= 1e-12, `${value} is not ${expected[at]} (${at})`),
  );
}

function refuses(sheet: Sheet, edit: unknown, reason: Reason, data?: object): void {
  const before = JSON.stringify(sheet);
  assert.throws(
    () => edited(sheet, edit as Edit),
    (error) =>
      error instanceof Refused && error.reason === reason && (!data || (assert.deepEqual(error.data, data), true)),
    `${JSON.stringify(edit)} is not refused as ${reason}`,
  );
  assert.equal(JSON.stringify(sheet), before);
}

const made = (sheet: Sheet, ...edits: Edit[]) => edits.reduce(edited, sheet);

// layers in, layers out ----------------------------------------------------------------------------

test("a sheet of layers makes these layers, residual, grouped heads, rotation and all", () => {
  for (const sheet of [small(), deep(), rich(1), rich(2)]) {
    const layers = layersOf(sheet);
    const again = sheetOf(layers);
    assert.ok(again);
    assert.deepEqual(
      again.layers.map((layer) => layer.x),
      sheet.layers.map(() => null),
    );
    assert.deepEqual(
      layersOf(again).map((layer) => layer.q),
      layers.map((layer) => layer.q),
    );
  }
});

test("q is x · W + b, dealt to heads in order", () => {
  const w = tableOf([
    [1, 2, 3, 4],
    [0, 1, 0, 1],
  ]);
  const layer = layerOf({ w_q: w, w_k: w, w_v: w, b_q: Float64Array.of(0, 0, 0, 10), n_heads: 2, n_kv_heads: 2 });
  const sheet = sheetFrom(
    ["a", "b"],
    null,
    tableOf([
      [1, 0],
      [1, 2],
    ]),
    [layer],
  );
  assert.deepEqual(stage(sheet, "q", 0, 0), [1, 2, 1, 4]);
  assert.deepEqual(stage(sheet, "q", 0, 1), [3, 14, 3, 16]);
});

test("rotation turns pairs by position, both pairings", () => {
  const [cos, sin] = [Math.cos(1), Math.sin(1)];
  for (const [interleaved, expected] of [
    [true, [cos, sin]],
    [false, [cos, 0, sin, 0]],
  ] as const) {
    const n = expected.length;
    const layer = layerOf({
      w_q: identity(n),
      w_k: identity(n),
      w_v: identity(n),
      rotation: { kind: "rotary", base: 10_000, interleaved, offset: 0 },
    });
    const x = tableOf([0, 1].map(() => Array.from({ length: n }, (_, at) => Number(at === 0))));
    assertNear(stage(sheetFrom(["a", "b"], null, x, [layer]), "q").slice(n), expected);
  }
});

test("what did not travel, or is too large, or was made in another way, is no sheet", () => {
  const layers = layersOf(deep());
  const replaced = (parts: Partial<Layer>): Layer[] => [{ ...layers[0], ...parts }, layers[1]];
  assert.ok(sheetOf(layers));
  assert.equal(sheetOf(replaced({ x: null })), null);
  assert.equal(sheetOf(replaced({ heads: null })), null);
  assert.equal(sheetOf(replaced({ exact: false })), null);
  assert.equal(sheetOf(replaced({ keyTokens: layers[0].tokens })), null);
  const q = { ...layers[0].q, values: layers[0].q.values.map((value) => value + 0.001) };
  assert.equal(sheetOf(replaced({ q })), null);
  const wide = layerOf({ w_q: drawn(65, 2, random(1)), w_k: drawn(65, 2, random(1)), w_v: drawn(65, 2, random(1)) });
  assert.equal(sheetOf(layersOf(sheetFrom(["a"], null, drawn(1, 65, random(2)), [wide]))), null);
});

test("a layer that reads another x keeps it, and an edit before it does not reach it", () => {
  const [first, second] = layersOf(deep());
  const foreign = sheetOf([first, layersOf(small())[0].x ? { ...second, ...withX(second) } : second]);
  assert.ok(foreign?.layers[1].x);
  const after = edited(foreign, { set: "x", layer: 0, row: 0, column: 0, value: 9 });
  assert.deepEqual(stage(after, "x", 1), stage(foreign, "x", 1));
  const own = edited(foreign, { set: "x", layer: 1, row: 0, column: 0, value: 9 });
  assert.equal(stage(own, "x", 1)[0], 9);
});

/** The layer over an x that nobody handed on. */
function withX(layer: Layer): Pick<Layer, "x" | "q" | "k" | "v"> {
  const heads = layer.heads as NonNullable<Layer["heads"]>;
  const x = drawn(3, 3, random(77));
  const alone = layersOf({ ...deep(), x, layers: [layerOf({ w_q: heads.w_q, w_k: heads.w_k, w_v: heads.w_v })] })[0];
  return { x, q: alone.q, k: alone.k, v: alone.v };
}

// numbers ------------------------------------------------------------------------------------------

test("an edit makes a new sheet, and all that follows from it", () => {
  const before = deep();
  const kept = JSON.stringify(before);
  const after = edited(before, { set: "w_v", layer: 0, row: 1, column: 2, value: 5 });
  assert.equal(JSON.stringify(before), kept);
  assert.deepEqual(stage(after, "weights", 0), stage(before, "weights", 0));
  assert.notDeepEqual(stage(after, "output", 0), stage(before, "output", 0));
  assert.notDeepEqual(stage(after, "weights", 1), stage(before, "weights", 1));
  const [x, output] = [stage(after, "x", 0), stage(after, "output", 0)];
  assertNear(
    stage(after, "x", 1),
    x.map((value, at) => value + output[at]),
  );
});

test("scale and temperature: the root of the width unless given, divided by the temperature", () => {
  const sheet = made(small(), { set: "temperature", layer: 0, value: 2 });
  const scores = stage(sheet, "scores");
  assertNear(
    stage(sheet, "scaled"),
    scores.map((score) => score / Math.sqrt(3) / 2),
  );
  assert.equal(sheet.layers[0].source.details.temperature, 2);
  const scaled = made(sheet, { set: "scale", layer: 0, value: 0.25 });
  assertNear(
    stage(scaled, "scaled"),
    scores.map((score) => score / 8),
  );
  const back = made(scaled, { set: "scale", layer: 0, value: null }, { set: "temperature", layer: 0, value: 1 });
  assert.equal(layersOf(back)[0].rule.scale, null);
  const again = sheetOf(layersOf(sheet));
  assert.deepEqual([again?.layers[0].scale, again?.layers[0].temperature], [null, 2]);
});

test("one cell of the mask makes a table of the rule", () => {
  const sheet = small({ allowed: { kind: "causal", offset: 0 } });
  const after = edited(sheet, { set: "allowed", layer: 0, row: 0, column: 3, value: true });
  assert.deepEqual(rows(after, "allowed"), [
    [1, 0, 0, 1],
    [1, 1, 0, 0],
    [1, 1, 1, 0],
    [1, 1, 1, 1],
  ]);
  const same = edited(sheet, { set: "allowed", layer: 0, row: 0, column: 3, value: false });
  assert.equal(same.layers[0].allowed.kind, "causal");
});

test("what is typed wrong is refused, with its reason, and nothing changes", () => {
  const x = { set: "x", layer: 0, row: 0, column: 0 };
  refuses(small(), { ...x, value: "1" }, "not_a_number");
  refuses(small(), { ...x, value: NaN }, "not_finite");
  refuses(small(), { ...x, value: -Infinity }, "too_large", { most: 1e100 });
  refuses(small(), { ...x, value: 1e101 }, "too_large", { most: 1e100 });
  refuses(small(), { ...x, row: 4, value: 1 }, "no_such_place", { what: "row" });
  refuses(small(), { ...x, column: 0.5, value: 1 }, "no_such_place", { what: "column" });
  refuses(small(), { ...x, layer: 1, value: 1 }, "no_such_place", { what: "layer" });
  refuses(small(), { ...x, set: "w_o", value: 1 }, "no_such_table", { what: "w_o", layer: 0 });
  refuses(deep(), { ...x, layer: 1, value: 1 }, "chained", { layer: 1 });
  refuses(small(), { set: "scale", layer: 0, value: 0 }, "not_in_range", { what: "scale", least: 1e-30, most: 1e30 });
  refuses(small(), { set: "temperature", layer: 0, value: -1 }, "not_in_range");
  const tiny = edited(small(), { set: "scale", layer: 0, value: 1e-20 });
  refuses(tiny, { set: "temperature", layer: 0, value: 1e20 }, "not_in_range", {
    what: "scale/temperature",
    least: 1e-30,
    most: 1e30,
  });
  refuses(small(), { set: "allowed", layer: 0, row: 0, column: 0, value: 1 }, "not_yes_or_no");
  const one = small({
    allowed: { kind: "table", columns: 4, cells: Uint8Array.from({ length: 16 }, (_, at) => Number(at === 5)) },
  });
  refuses(one, { set: "allowed", layer: 0, row: 1, column: 1, value: false }, "nothing_allowed", { layer: 0 });
});

test("numbers whose products would not fit are refused", () => {
  const large = made(
    small(),
    { set: "x", layer: 0, row: 0, column: 0, value: 1e90 },
    { set: "w_q", layer: 0, row: 0, column: 0, value: 1e90 },
  );
  refuses(large, { set: "w_k", layer: 0, row: 0, column: 0, value: 1e90 }, "overflow", { layer: 0, stage: "scores" });
  const scaled = edited(small(), { set: "scale", layer: 0, value: 1e30 });
  const near = made(
    scaled,
    { set: "x", layer: 0, row: 0, column: 0, value: 1e100 },
    { set: "w_q", layer: 0, row: 0, column: 0, value: 1e70 },
  );
  refuses(near, { set: "w_q", layer: 0, row: 0, column: 0, value: 1e90 }, "overflow", { layer: 0, stage: "scaled" });
});

test("a number as people type it", () => {
  const typed = {
    "1": 1,
    " -0.5 ": -0.5,
    ".5": 0.5,
    "3.": 3,
    "1e-3": 0.001,
    "\u22122": -2,
    "\uff11\uff12": 12,
    "-0": 0,
  };
  for (const [text, value] of Object.entries(typed)) assert.equal(numberOf(text), value);
  const wrong: Record<string, Reason> = {
    "": "not_a_number",
    x: "not_a_number",
    "0x10": "not_a_number",
    "1 2": "not_a_number",
    Infinity: "not_a_number",
    "1,5": "comma",
    "1e999": "too_large",
    "1e101": "too_large",
  };
  for (const [text, reason] of Object.entries(wrong)) {
    assert.throws(
      () => numberOf(text),
      (error) => error instanceof Refused && error.reason === reason,
      text,
    );
  }
});

// tokens -------------------------------------------------------------------------------------------

test("tokens come, go and move with their rows, whatever they are called", () => {
  const hostile = ["", "the", "two\nlines", "</script>", "null"];
  const sheet = hostile.reduce((one, text, at) => edited(one, { add: "token", at, text }), small());
  assert.deepEqual(
    sheet.tokens.map((token) => token.text),
    [...hostile, "the", "cat", "saw", "it"],
  );
  assert.deepEqual(rows(sheet, "x")[0], [0, 0, 0]);
  assert.deepEqual(rows(sheet, "x").slice(5), rows(small(), "x"));
  const gone = hostile.reduce((one) => edited(one, { remove: "token", at: 0 }), sheet);
  assert.deepEqual(stage(gone, "output"), stage(small(), "output"));
  const moved = edited(small(), { move: "token", from: 0, to: 3 });
  assert.deepEqual(
    moved.tokens.map((token) => token.text),
    ["cat", "saw", "it", "the"],
  );
  const [before, after] = [rows(small(), "weights"), rows(moved, "weights")];
  [1, 2, 3, 0].forEach((row, at) =>
    assertNear(
      after[at],
      [1, 2, 3, 0].map((column) => before[row][column]),
    ),
  );
});

test("the token to look at, the sentence and the spans follow", () => {
  const added = edited(small(), { add: "token", at: 0, text: "\u1100\u1161" });
  assert.equal(added.layers[0].source.details.focus, 3);
  assert.equal(added.layers[0].source.details.sentence, "\uac00 the cat saw it");
  assert.deepEqual(
    added.tokens.map((token) => token.span),
    [
      [0, 1],
      [2, 5],
      [6, 9],
      [10, 13],
      [14, 16],
    ],
  );
  assert.equal(edited(small(), { remove: "token", at: 2 }).layers[0].source.details.focus, undefined);
  const renamed = edited(added, { rename: "token", at: 2, text: "🐈 dog" });
  assert.equal(renamed.layers[0].source.details.sentence, "\uac00 the 🐈 dog saw it");
  assert.deepEqual(renamed.tokens[3].span, [12, 15]);
  const last = edited(renamed, { rename: "token", at: 3, text: "sees" });
  assert.equal(last.layers[0].source.details.sentence, "\uac00 the 🐈 dog sees it");
  assert.deepEqual(renamed.tokens[2].label, { text: "🐈 dog", part: 1, parts: 1, raw: null, special: false });
});

test("rules that name tokens follow them", () => {
  const cells = Uint8Array.from([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
  const array = { heads: 1, rows: 4, width: 4, values: Float64Array.from({ length: 16 }, (_, at) => at) };
  const of = (allowed: Sheet["layers"][0]["allowed"], edit: Edit) => rows(edited(small({ allowed }), edit), "allowed");
  const add: Edit = { add: "token", at: 1, text: "new" };
  const table = of({ kind: "table", columns: 4, cells }, add);
  assert.deepEqual(table, [
    [1, 1, 0, 0, 0],
    [1, 1, 1, 1, 1],
    [0, 1, 1, 0, 0],
    [0, 1, 0, 1, 0],
    [0, 1, 0, 0, 1],
  ]);
  assert.deepEqual(
    of({ kind: "table", columns: 4, cells }, { remove: "token", at: 0 }),
    rows(
      sheetFrom(["", "", ""], null, identity(3), [
        layerOf({
          w_q: identity(3),
          w_k: identity(3),
          w_v: identity(3),
          allowed: { kind: "table", columns: 3, cells: Uint8Array.from(identity(3).values) },
        }),
      ]),
      "allowed",
    ),
  );
  assert.deepEqual(of({ kind: "padding", keys: Uint8Array.of(1, 0, 1, 0) }, add)[0], [1, 1, 0, 1, 0]);
  assert.deepEqual(
    of({ kind: "padding", keys: Uint8Array.of(1, 0, 1, 0) }, { move: "token", from: 1, to: 0 })[0],
    [0, 1, 1, 0],
  );
  assert.deepEqual(of({ kind: "document", ids: Int32Array.of(7, 8, 8, 8), offset: 0 }, add)[0], [1, 1, 0, 0, 0]);
  const causal = { kind: "causal", offset: 0 } as const;
  assert.deepEqual(
    of({ kind: "both", first: causal, second: { kind: "padding", keys: Uint8Array.of(0, 1, 1, 1) } }, add)[2],
    [0, 1, 1, 0, 0],
  );
  const biased = edited(small({ bias: { kind: "bias_table", array } }), { move: "token", from: 0, to: 1 });
  const [scores, scaled] = [stage(biased, "scores"), stage(biased, "scaled")];
  assertNear(
    scaled.slice(0, 4).map((s, at) => s - scores[at] / Math.sqrt(3)),
    [5, 4, 6, 7],
  );
});

test("tokens that cannot be are refused", () => {
  const one = [0, 0, 0].reduce((sheet) => edited(sheet, { remove: "token", at: 0 }), small());
  refuses(one, { remove: "token", at: 0 }, "last_token");
  const many = Array.from({ length: 60 }).reduce<Sheet>(
    (sheet) => edited(sheet, { add: "token", at: 0, text: "a" }),
    small(),
  );
  refuses(many, { add: "token", at: 0, text: "b" }, "too_many_tokens", { most: 64 });
  refuses(small(), { add: "token", at: 5, text: "b" }, "no_such_place", { what: "token" });
  refuses(small(), { rename: "token", at: 4, text: "b" }, "no_such_place");
  refuses(small(), { move: "token", from: 0, to: 4 }, "no_such_place");
  refuses(small(), { add: "token", at: 0, text: "\ud800" }, "not_text");
  refuses(small(), { rename: "token", at: 0, text: 3 }, "not_text");
  refuses(small(), { add: "token", at: 0, text: "a".repeat(201) }, "too_long", { most: 200 });
  const alone = small({ allowed: { kind: "padding", keys: Uint8Array.of(0, 0, 1, 0) } });
  refuses(alone, { remove: "token", at: 2 }, "nothing_allowed");
});

// dimensions ---------------------------------------------------------------------------------------

test("a dimension that moves takes its rows and columns along, through all layers", () => {
  for (const before of [small(), deep()]) {
    const after = edited(before, { move: "dimension", from: 0, to: 2 });
    assert.deepEqual(
      after.dimensions,
      [1, 2, 0].map((at) => before.dimensions?.[at]),
    );
    before.layers.forEach((_, layer) => {
      assertNear(stage(after, "weights", layer), stage(before, "weights", layer));
      const expected = rows(before, "output", layer).map((row) => [row[1], row[2], row[0]]);
      assertNear(stage(after, "output", layer), expected.flat());
    });
  }
});

test("a new dimension is 0 in every token and asks for its like", () => {
  for (const before of [small(), deep()]) {
    const after = edited(before, { add: "dimension", at: 1, text: "New" });
    before.layers.forEach((_, layer) => {
      assertNear(stage(after, "scores", layer === 0 ? 0 : 0), stage(before, "scores"));
      const { w_q, w_v } = after.layers[layer];
      assert.deepEqual([w_q.rows, w_q.columns, w_v.columns], [4, 4, 4]);
      assert.deepEqual(
        [0, 1, 2, 3].map((at) => w_q.values[4 + at]),
        [0, 1, 0, 0],
      );
    });
    const back = edited(after, { remove: "dimension", at: 1 });
    assert.deepEqual(
      stage(back, "output", before.layers.length - 1),
      stage(before, "output", before.layers.length - 1),
    );
  }
});

test("through w_o with several heads only what is counted in the embedding changes", () => {
  const before = { ...rich(1), dimensions: ["A", "B", "C", "D", "E", "F"] };
  const moved = edited(before, { move: "dimension", from: 5, to: 0 });
  for (const layer of [0, 1]) assertNear(stage(moved, "weights", layer, 3), stage(before, "weights", layer, 3));
  const added = edited(before, { add: "dimension", at: 6, text: "G" });
  const { w_q, w_o, b_o } = added.layers[1];
  assert.deepEqual([w_q.rows, w_q.columns, w_o?.rows, w_o?.columns, b_o?.length], [7, 16, 12, 7, 7]);
  assertNear(stage(added, "weights", 1), stage(before, "weights", 1));
});

test("a layer that reads another space stays as it is", () => {
  const draw = random(4);
  const first = layerOf({ w_q: drawn(3, 3, draw), w_k: drawn(3, 3, draw), w_v: drawn(3, 2, draw) });
  const second = layerOf({ w_q: drawn(2, 2, draw), w_k: drawn(2, 2, draw), w_v: drawn(2, 2, draw) });
  const before = sheetFrom(["a", "b"], ["A", "B", "C"], drawn(2, 3, draw), [first, second]);
  const after = edited(before, { move: "dimension", from: 0, to: 2 });
  assertNear(stage(after, "output", 1), stage(before, "output", 1));
  assert.equal(after.layers[1].w_q.rows, 2);
});

test("names and their meaning", () => {
  const renamed = edited(small(), { rename: "dimension", at: 1, text: " \u1100\u1161: #" });
  assert.deepEqual(renamed.dimensions, ["Word", " \uac00: #", "Action"]);
  assert.deepEqual(renamed.layers[0].source.details.meaning, { " \uac00: #": { en: "an animal", ko: "동물" } });
  assert.equal(edited(renamed, { remove: "dimension", at: 1 }).layers[0].source.details.meaning, undefined);
  const unnamed = { ...small(), dimensions: null };
  refuses(unnamed, { rename: "dimension", at: 0, text: "a" }, "unnamed");
  assert.equal(edited(unnamed, { add: "dimension", at: 0, text: "" }).x.columns, 4);
});

test("dimensions that cannot be are refused", () => {
  refuses(small(), { add: "dimension", at: 0, text: "" }, "no_name");
  refuses(small(), { add: "dimension", at: 0, text: " \u3000" }, "no_name");
  refuses(small(), { rename: "dimension", at: 0, text: "  " }, "no_name");
  refuses(small(), { add: "dimension", at: 0, text: "Word" }, "name_twice", { name: "Word" });
  refuses(small(), { rename: "dimension", at: 0, text: "Animal" }, "name_twice");
  refuses(small(), { move: "dimension", from: 3, to: 0 }, "no_such_place", { what: "dimension" });
  const one = [0, 0].reduce((sheet) => edited(sheet, { remove: "dimension", at: 0 }), small());
  refuses(one, { remove: "dimension", at: 0 }, "last_dimension");
  const many = Array.from({ length: 61 }).reduce<Sheet>(
    (sheet, _, at) => edited(sheet, { add: "dimension", at: 0, text: `d${at}` }),
    small(),
  );
  refuses(many, { add: "dimension", at: 0, text: "more" }, "too_many_dimensions", { most: 64 });
});

test("a layer that would no longer fit refuses the change", () => {
  const w = { w_q: identity(4), w_k: identity(4), w_v: identity(4) };
  const sheet = (parts: object) =>
    sheetFrom(["a", "b"], ["A", "B", "C", "D"], drawn(2, 4, random(3)), [layerOf({ ...w, ...parts })]);
  const add = { add: "dimension", at: 0, text: "E" };
  refuses(sheet({ rotation: { kind: "rotary", base: 10_000, interleaved: false, offset: 0 } }), add, "rotary", {
    layer: 0,
  });
  const heads = { n_heads: 2, n_kv_heads: 2 };
  refuses(sheet({ ...heads, residual: true }), add, "joined_heads", { layer: 0 });
  refuses(sheet(heads), { move: "dimension", from: 0, to: 1 }, "joined_heads", { layer: 0 });
  assert.deepEqual(stage(edited(sheet(heads), add as Edit), "output").length, 8);
});

// what changed -------------------------------------------------------------------------------------

test("changes: only what an edit reached, with what stood there before", () => {
  const before = small();
  const after = edited(before, { set: "x", layer: 0, row: 1, column: 1, value: 2 });
  const seen = changes(layersOf(before), layersOf(after));
  assert.deepEqual(seen.of(0, "x"), [
    { cell: { layer: 0, stage: "x", head: 0, row: 1, column: 1 }, before: 1, after: 2 },
  ]);
  assert.deepEqual(seen.of(0, "w_q"), []);
  assert.deepEqual([...new Set(seen.of(0, "q").map(({ cell }) => cell.row))], [1]);
  for (const { cell } of seen.of(0, "scores")) assert.ok(cell.row === 1 || cell.column === 1);
  assert.ok(seen.of(0, "weights").length > 4);
  assert.ok(seen.of(0, "weighted_values", 0, 1).length > 0);
  assert.throws(() => seen.of(0, "weighted_values"), RangeError);
});

test("changes: a token is found again wherever it stands, a new one has no before", () => {
  const before = small();
  const marks = (stage: Stage, ...edits: Edit[]) =>
    changes(layersOf(before), layersOf(made(before, ...edits))).of(0, stage);
  const [rename, move]: Edit[] = [
    { rename: "token", at: 0, text: "a" },
    { move: "token", from: 0, to: 2 },
  ];
  for (const stage of ["x", "q", "weights", "output"] as const) {
    assert.deepEqual(marks(stage, rename), []);
    assert.deepEqual(marks(stage, rename, move), []);
    assert.deepEqual(marks(stage, { rename: "dimension", at: 0, text: "a" }), []);
    assert.deepEqual(marks(stage, { move: "dimension", from: 0, to: 2 }), []);
  }
  const replaced = marks("x", { remove: "token", at: 0 }, { add: "token", at: 0, text: "other" });
  assert.deepEqual(replaced, []);
});

test("changes: a new token changes the weights of others, and marks none of its own", () => {
  const before = small();
  const after = edited(before, { add: "token", at: 0, text: "new" });
  const seen = changes(layersOf(before), layersOf(after));
  assert.deepEqual([seen.of(0, "x"), seen.of(0, "q"), seen.of(0, "scores")], [[], [], []]);
  const weights = seen.of(0, "weights");
  assert.equal(weights.length, 16);
  assert.ok(weights.every(({ cell }) => cell.row > 0 && cell.column > 0));
});

test("changes: a new dimension marks what it changes, and nothing by rounding", () => {
  const before = edited(small(), { set: "scale", layer: 0, value: 0.3 });
  const seen = changes(layersOf(before), layersOf(edited(before, { add: "dimension", at: 0, text: "New" })));
  for (const stage of ["x", "w_q", "q", "scores", "weights", "output"] as const)
    assert.deepEqual(seen.of(0, stage), []);
});

test("changes: where dimensions have no names, a new one leaves nothing to compare", () => {
  const before = { ...small(), dimensions: null };
  const seen = changes(layersOf(before), layersOf(edited(before, { add: "dimension", at: 0, text: "" })));
  for (const stage of ["x", "w_q", "q", "output"] as const) assert.deepEqual(seen.of(0, stage), []);
  assert.ok(seen.of(0, "weights").length > 0);
});
