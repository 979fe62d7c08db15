/**
 * Expressions of lessons: what each gives here, written to JUMOK_LESSONS/made.json; tests/frontend/test_lesson.py makes
 * the cases from every lesson of the course, and compares with Python.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDocument } from "../src/engine/container";
import { evaluated, type Named, type Value } from "../src/engine/expressions";
import { functionsOf, type Measured, type Read } from "../src/engine/functions";
import type { Layer } from "../src/engine/record";

interface Case {
  readonly text: string;
  readonly variables: Named;
  readonly example: string;
  /** name → file */
  readonly records: Readonly<Record<string, string>>;
  readonly measured: Measured;
}

const folder = process.env.JUMOK_LESSONS ?? "";
const cases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8")) as readonly Case[];
const opened = new Map<string, Read>();

test("there is something to compute", () => assert.ok(cases.length > 0));

const made = cases.map(({ text, variables, example, records, measured }) => {
  const read = new Map(Object.entries(records).map(([name, file]) => [name, recordOf(file)]));
  try {
    return { value: plain(evaluated(text, variables, functionsOf(example, read, measured))) };
  } catch (error) {
    return { error: String(error) };
  }
});
const names = Object.keys(functionsOf("", new Map()));
writeFileSync(join(folder, "made.json"), JSON.stringify({ made, names }));

function recordOf(file: string): Read {
  let read = opened.get(file);
  if (read === undefined) {
    const all = readFileSync(join(folder, file));
    const length = Number(all.readBigUInt64LE(0));
    const data = Uint8Array.from(all.subarray(8 + length));
    const document = openDocument(all.toString("utf8", 8, 8 + length), new DataView(data.buffer), () => assert.fail());
    read = { layers: document.facts.map((_, at) => document.layer(at) as Layer), numbers: document.numbers ?? null };
    opened.set(file, read);
  }
  return read;
}

/** JSON has no Map. */
function plain(value: Value): unknown {
  return value instanceof Map ? { row: Object.fromEntries(value) } : value;
}
