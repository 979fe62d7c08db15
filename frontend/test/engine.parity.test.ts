/**
 * Against Python: every stage of every document in the folder JUMOK_PARITY, which tests/frontend/test_engine.py fills.
 * What was compared, and the largest difference, is written back there.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDocument } from "../src/engine/container";
import * as path from "../src/engine/path";
import type { Document, Layer, Stage } from "../src/engine/record";

/** One file, and what Python makes of it: for each layer its stages, all numbers in a row. */
interface Case {
  readonly name: string;
  readonly file: string;
  readonly tolerance: number;
  readonly layers: readonly Readonly<Record<string, readonly number[]>>[];
  readonly names: readonly Readonly<Record<Named, readonly string[] | null>>[];
}

type Named = Parameters<typeof path.namesOf>[1];

/** JSON knows no −Infinity. */
const NOTHING = -1e30;

const folder = process.env.JUMOK_PARITY ?? "";
const { cases } = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8")) as { cases: Case[] };
const results: Record<string, { compared: number; worst: number }> = {};

test("there is something to compare", () => assert.ok(cases.length > 0));

for (const { name, file, tolerance, layers, names } of cases) {
  test(name, async () => {
    const tally = new Tally(name, tolerance);
    const { whole, alone } = opened(join(folder, file));
    assert.equal(whole.facts.length, layers.length);
    for (const [at, expected] of layers.entries()) {
      const layer = await whole.layer(at);
      assert.equal(await whole.layer(at), layer);
      assert.deepEqual(await alone.layer(at), layer);
      compareStages(tally, layer, expected);
      compareRows(tally, layer, expected);
      compareCells(tally, layer, expected);
      for (const what of Object.keys(names[at]) as Named[]) {
        assert.deepEqual(path.namesOf(layer, what), names[at][what]);
      }
    }
    results[name] = { compared: tally.compared, worst: tally.worst };
  });
}

test("what was compared is told", () => writeFileSync(join(folder, "results.json"), JSON.stringify(results)));

/** A file as a whole, and with its layers brought one by one. */
function opened(file: string): { whole: Document; alone: Document } {
  const all = readFileSync(file);
  const length = Number(all.readBigUInt64LE(0));
  const header = all.toString("utf8", 8, 8 + length);
  const view = new DataView(all.buffer, all.byteOffset + 8 + length, all.length - 8 - length);
  const entries = Object.entries(JSON.parse(header) as Record<string, { data_offsets?: [number, number] }>);
  const ask = (layer: number) => {
    const own = entries.filter(([name]) => name.startsWith(`layers.${layer}.`));
    const runs = own.map(([, entry]) => entry.data_offsets!);
    const from = Math.min(...runs.map(([start]) => start));
    const to = Math.max(...runs.map(([, end]) => end));
    const odd = new Uint8Array(to - from + 1); // begins at an odd byte, as nothing promises an even one
    odd.set(new Uint8Array(view.buffer, view.byteOffset + from, to - from), 1);
    return Promise.resolve(new DataView(odd.buffer, 1));
  };
  const never = () => Promise.reject(new Error("all bytes are here"));
  return { whole: openDocument(header, view, never), alone: openDocument(header, null, ask) };
}

class Tally {
  compared = 0;
  worst = 0;

  constructor(
    private readonly name: string,
    private readonly tolerance: number,
  ) {}

  /** Every number of one array: as far off as rounding at the size of its largest, and no farther. */
  close(what: string, got: ArrayLike<number>, expected: ArrayLike<number>): void {
    assert.equal(got.length, expected.length, `${this.name}: ${what} has another size`);
    let size = 1;
    for (let i = 0; i < expected.length; i++) {
      if (Number.isFinite(expected[i])) size = Math.max(size, Math.abs(expected[i]));
    }
    for (let i = 0; i < expected.length; i++) {
      const far = got[i] === expected[i] ? 0 : Math.abs(got[i] - expected[i]) / size;
      assert.ok(far <= this.tolerance, `${this.name}: ${what}[${i}] is ${got[i]}, Python says ${expected[i]}`);
      this.worst = Math.max(this.worst, far);
    }
    this.compared += expected.length;
  }
}

/** Whole stages; each head's part stands after the last one's. */
function compareStages(tally: Tally, layer: Layer, expected: Readonly<Record<string, readonly number[]>>): void {
  const once: readonly string[] = ["x", "w_q", "w_k", "w_v", "w_o", "allowed", "output"];
  for (const [stage, numbers] of Object.entries(expected)) {
    if (stage === "lse") continue;
    const heads = once.includes(stage) ? 1 : layer.q.heads;
    const width = numbers.length / heads;
    for (let head = 0; head < heads; head++) {
      const { rows, columns, values } = path.stageOf(layer, stage as Stage, head);
      assert.equal(rows * columns, values.length);
      tally.close(`${stage} of head ${head}`, values, numbers.slice(head * width, (head + 1) * width));
    }
  }
}

function compareRows(tally: Tally, layer: Layer, expected: Readonly<Record<string, readonly number[]>>): void {
  const [n, m] = [layer.q.rows, layer.k.rows];
  for (let query = 0; query < n; query++) {
    for (let head = 0; head < layer.q.heads; head++) {
      const row = path.rowOf(layer, head, query);
      const at = head * n + query;
      for (const stage of ["scores", "scaled", "weights"] as const) {
        tally.close(`row of ${stage}`, row[stage], expected[stage].slice(at * m, (at + 1) * m));
      }
      tally.close("row of allowed", row.allowed, expected.allowed.slice(query * m, (query + 1) * m));
      if (!row.mixed || !layer.v) continue;
      const width = layer.v.width;
      tally.close("row of mixed", row.mixed, expected.mixed.slice(at * width, (at + 1) * width));
      const values = expected.weighted_values.slice(at * m * width, (at + 1) * m * width);
      tally.close("weighted values", path.weightedValuesOf(layer, head, query).values, values);
    }
    const output = path.outputRowOf(layer, query);
    const width = (expected.output?.length ?? 0) / n;
    if (output) tally.close("row of output", output, expected.output.slice(query * width, (query + 1) * width));
  }
}

function compareCells(tally: Tally, layer: Layer, expected: Readonly<Record<string, readonly number[]>>): void {
  const [n, m] = [layer.q.rows, layer.k.rows];
  const cells = { scores: path.scoreAt, scaled: path.scaledAt, weights: path.weightAt };
  for (let head = 0; head < layer.q.heads; head++) {
    for (const [stage, cellAt] of Object.entries(cells)) {
      const got = Array.from({ length: n * m }, (_, at) => cellAt(layer, head, Math.floor(at / m), at % m));
      tally.close(`cells of ${stage}`, got, expected[stage].slice(head * n * m, (head + 1) * n * m));
    }
    const sums = Array.from({ length: n }, (_, query) => path.lseAt(layer, head, query));
    const told = expected.lse.slice(head * n, (head + 1) * n);
    tally.close("lse", sums, told.map((sum) => (sum === NOTHING ? -Infinity : sum)));
  }
}
