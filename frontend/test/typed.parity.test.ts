/**
 * Numbers that somebody types: what each is read as here, written to JUMOK_TYPED/made.json; tests/frontend/test_typed.py
 * makes the cases, and compares with Python.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { typedNumber } from "../src/views/lesson/asking";
import type { Typed } from "../src/views/lesson/lesson";

interface Given {
  readonly typed: Typed;
  readonly texts: readonly string[];
}

const folder = process.env.JUMOK_TYPED ?? "";
const { typed, texts } = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8")) as Given;
const made = texts.map((text) => [true, false].map((isWhole) => typedNumber(text, isWhole, typed)));
writeFileSync(join(folder, "made.json"), JSON.stringify(made));
