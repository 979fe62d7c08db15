import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf, pathOf } from "../src/views/learning/curves";

test("a curve ends where its axis does: a run that was stopped has losses beyond its last snapshot", () => {
  const within = { values: [4, 3, 2], steps: null };
  const beyond = { values: [4, 3, 2, 1, 1, 1], steps: null };
  assert.equal(pathOf(beyond, axisOf(2, false), 0, 4), pathOf(within, axisOf(2, false), 0, 4));
  assert.match(pathOf(within, axisOf(2, false), 0, 4), /^M0 0\.00L500 25\.00L1000 50\.00$/);
});
