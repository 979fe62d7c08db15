/**
 * A training run as the page has it, against Python: every stage of every layer of every probe at every snapshot of the runs in
 * the folder JUMOK_RUNS, which tests/frontend/test_history.py fills. What was compared is written back there.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { backwardsOf, ofProjection, outerTerms } from "../src/engine/gradients";
import { openHistory, snapshotAt, type History } from "../src/engine/history";
import { stageOf } from "../src/engine/path";
import type { Layer, Stage } from "../src/engine/record";

/** Of one snapshot of one probe: for each layer its stages, of each head all numbers in a row, and its gradients. */
interface Moment {
  readonly snapshot: number;
  readonly probe: number;
  readonly step: number;
  readonly layers: readonly {
    readonly stages: Readonly<Record<string, readonly (readonly number[])[]>>;
    readonly details: unknown;
    /** dL/dq, dL/dk, dL/dv and dL/dW of their matrices; empty where none was kept */
    readonly gradients: Readonly<Record<string, readonly number[] | null>>;
  }[];
}

interface Case {
  readonly name: string;
  readonly tolerance: number;
  readonly moments: readonly Moment[];
}

const folder = process.env.JUMOK_RUNS ?? "";
const cases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8")) as Case[];
interface Tally {
  numbers: number;
  worst: number;
  gradients: number;
  worst_gradient: number;
}

const compared: Record<string, Tally> = {};

for (const { name, tolerance, moments } of cases) {
  test(name, () => {
    const history = opened(join(folder, `${name}.safetensors`));
    const tally = (compared[name] = { numbers: 0, worst: 0, gradients: 0, worst_gradient: 0 });
    for (const { snapshot, probe, step, layers } of moments) {
      assert.equal(snapshotAt(history.steps, step), snapshot);
      const document = history.at(snapshot, probe);
      assert.equal(document.facts.length, layers.length);
      layers.forEach(({ stages, details, gradients }, at) => {
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
        const mine = backwards(history, layer, at, probe, snapshot);
        assert.deepEqual(Object.keys(mine), Object.keys(gradients));
        for (const [of, theirs] of Object.entries(gradients)) {
          assert.equal(mine[of] === null, theirs === null);
          if (theirs === null) continue;
          tally.gradients += theirs.length;
          tally.worst_gradient = Math.max(tally.worst_gradient, difference(mine[of]!, theirs));
        }
      });
    }
  });
}

test("an entry of dL/dW is the sum of what its tokens add", () => {
  const history = opened(join(folder, "single.safetensors"));
  const layer = history.at(3, 0).layer(1) as Layer;
  const { k } = backwardsOf(layer, history.upstream(1, 0, 3)!);
  const whole = ofProjection(layer.x!, k);
  for (let at = 0; at < whole.values.length; at += 1) {
    const terms = outerTerms(layer.x!, k, Math.floor(at / whole.columns), at % whole.columns);
    assert.equal(terms.length, layer.tokens.length);
    const sum = terms.reduce((total, { x, gradient }) => total + x * gradient, 0);
    assert.ok(Math.abs(sum - whole.values[at]) < 1e-9);
  }
});

test("what was compared is told", () => writeFileSync(join(folder, "compared.json"), JSON.stringify(compared)));

function backwards(history: History, layer: Layer, at: number, probe: number, snapshot: number): Record<string, ArrayLike<number> | null> {
  const upstream = history.upstream(at, probe, snapshot);
  if (upstream === null || layer.x === null) return {};
  const found = Object.entries(backwardsOf(layer, upstream));
  return Object.fromEntries([
    ...found.map(([name, of]) => [name, of && of.values]),
    ...found.map(([name, of]) => [`w_${name}`, of && ofProjection(layer.x!, of).values]),
  ]);
}

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
