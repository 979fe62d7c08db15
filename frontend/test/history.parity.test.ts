/**
 * A training run as the page has it, against Python: every stage of every layer of every probe at every snapshot of the runs in
 * the folder JUMOK_RUNS, which tests/frontend/test_history.py fills. What was compared is written back there.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openHistory, snapshotAt, type History } from "../src/engine/history";
import { stageOf } from "../src/engine/path";
import type { Layer, Stage } from "../src/engine/record";

/** Of one snapshot of one probe: for each layer its stages, of each head all numbers in a row. */
interface Moment {
  readonly snapshot: number;
  readonly probe: number;
  readonly step: number;
  readonly layers: readonly { readonly stages: Readonly<Record<string, readonly (readonly number[])[]>>; readonly details: unknown }[];
}

interface Case {
  readonly name: string;
  readonly tolerance: number;
  readonly moments: readonly Moment[];
}

const folder = process.env.JUMOK_RUNS ?? "";
const cases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8")) as Case[];
const compared: Record<string, { numbers: number; worst: number }> = {};

for (const { name, tolerance, moments } of cases) {
  test(name, () => {
    const history = opened(join(folder, `${name}.safetensors`));
    const tally = (compared[name] = { numbers: 0, worst: 0 });
    for (const { snapshot, probe, step, layers } of moments) {
      assert.equal(snapshotAt(history.steps, step), snapshot);
      const document = history.at(snapshot, probe);
      assert.equal(document.facts.length, layers.length);
      layers.forEach(({ stages, details }, at) => {
        const layer = document.layer(at) as Layer;
        assert.deepEqual(layer.source.details, details);
        for (const [stage, heads] of Object.entries(stages)) {
          heads.forEach((numbers, head) => {
            const worst = difference(stageOf(layer, stage as Stage, head).values, numbers);
            assert.ok(worst <= tolerance, `${stage} of layer ${at}, head ${head}, step ${step} is off by ${worst}`);
            tally.numbers += numbers.length;
            tally.worst = Math.max(tally.worst, worst);
          });
        }
      });
    }
  });
}

test("what was compared is told", () => writeFileSync(join(folder, "compared.json"), JSON.stringify(compared)));

function opened(file: string): History {
  const all = readFileSync(file);
  const length = Number(all.readBigUInt64LE(0));
  const bytes = new DataView(all.buffer, all.byteOffset + 8 + length, all.byteLength - 8 - length);
  return openHistory(all.toString("utf8", 8, 8 + length), bytes);
}

/** Relative to the largest of the numbers, where that is above 1. */
function difference(mine: ArrayLike<number>, theirs: readonly number[]): number {
  assert.equal(mine.length, theirs.length);
  const size = theirs.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
  return theirs.reduce((worst, value, at) => Math.max(worst, Math.abs(value - mine[at]) / size), 0);
}
