/**
 * Wanted rows of the file JUMOK_WANTED/cases.json made whole, written to made.json; tests/frontend/test_wanted.py makes
 * the cases and compares with Python's `wishes`.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { completed, type WantedRow } from "../src/engine/wanted";

interface Case {
  readonly row: WantedRow;
  readonly allowed: readonly number[];
}

const folder = process.env.JUMOK_WANTED ?? "";
const cases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8")) as readonly Case[];

test("there is something to complete", () => assert.ok(cases.length > 0));

const made = cases.map(({ row, allowed }) => {
  const whole = completed(row, Uint8Array.from(allowed));
  return whole instanceof Float64Array ? [...whole] : whole.kind;
});
writeFileSync(join(folder, "made.json"), JSON.stringify(made));
