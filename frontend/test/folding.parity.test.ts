/**
 * Flash attention's folds against Python: every row of the records in the folder JUMOK_FOLDS, which
 * tests/frontend/test_folding.py fills, in several tiles, with its sentences. What was compared is written back there.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDocument } from "../src/engine/container";
import { fewTiles, foldingOf } from "../src/engine/folding";
import type { Lang, Layer } from "../src/engine/record";
import { aboutOf, endSaid, foldSaid, startSaid } from "../src/views/folding/said";

interface Row {
  readonly head: number;
  readonly query: number;
  readonly tile: number;
  /** A fold's numbers in a row: rescale, added, total, scores, mixed; null for no top. */
  readonly folds: readonly { readonly tops: readonly (number | null)[]; readonly read: readonly number[]; readonly numbers: readonly number[] }[];
  readonly mixed: readonly number[];
  readonly lse: number | null;
  readonly said: Readonly<Record<Lang, readonly string[]>>;
}

interface Case {
  readonly name: string;
  readonly file: string;
  readonly tile: number;
  readonly rows: readonly Row[];
}

const folder = process.env.JUMOK_FOLDS ?? "";
const cases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8")) as Case[];
const compared: Record<string, { numbers: number; worst: number }> = {};

for (const { name, file, tile, rows } of cases) {
  test(name, async () => {
    const layer = await opened(join(folder, file)).layer(0);
    const tally = (compared[name] = { numbers: 0, worst: 0 });
    const near = (mine: ArrayLike<number>, theirs: readonly number[]): void => {
      assert.equal(mine.length, theirs.length);
      theirs.forEach((value, at) => {
        tally.numbers += 1;
        tally.worst = Math.max(tally.worst, Math.abs(value - mine[at]) / Math.max(1, Math.abs(value)));
      });
    };
    assert.equal(fewTiles(layer.k.rows), tile);
    for (const row of rows) {
      const folding = foldingOf(layer, row.head, row.query, row.tile);
      assert.equal(folding.folds.length, row.folds.length);
      folding.folds.forEach(({ before, after, read, rescale, added, scores }, at) => {
        const { tops, read: theirs, numbers } = row.folds[at];
        assert.deepEqual(read, theirs);
        assert.deepEqual([before.top === null, after.top === null], tops.map((top) => top === null));
        near([before.top ?? 0, after.top ?? 0], tops.map((top) => top ?? 0));
        near([rescale, added, after.total, ...scores, ...after.mixed!], numbers);
      });
      near(folding.mixed!, row.mixed);
      near([folding.lse ?? 0], [row.lse ?? 0]);
      for (const lang of ["en", "ko"] as const) assert.deepEqual(saidOf(layer, row, lang), row.said[lang]);
    }
    assert.ok(tally.worst <= 1e-12, `${name} is off by ${tally.worst}`);
  });
}

test("what was compared is told", () => writeFileSync(join(folder, "results.json"), JSON.stringify(compared)));

function opened(file: string): ReturnType<typeof openDocument> {
  const all = readFileSync(file);
  const length = Number(all.readBigUInt64LE(0));
  const view = new DataView(all.buffer, all.byteOffset + 8 + length, all.length - 8 - length);
  return openDocument(all.toString("utf8", 8, 8 + length), view, () => Promise.reject(new Error("all bytes are here")));
}

/** All sentences in their order, as VariantExplanation.text has them. */
function saidOf(layer: Layer, { head, query, tile }: Row, lang: Lang): string[] {
  const folding = foldingOf(layer, head, query, tile);
  const size = Math.min(tile, layer.k.rows);
  const folds = folding.folds.map((fold, at) => foldSaid(layer, query, fold, at, lang));
  const said = [aboutOf(layer, head, query, size, lang), startSaid(folding, lang), ...folds, endSaid(layer, query, size, folding, lang)];
  return said.filter((sentence) => sentence !== "");
}
