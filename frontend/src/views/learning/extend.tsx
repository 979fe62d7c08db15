/** The second program, of documents that are training runs: built into static/learning.js, which only they carry. */
import type { Extension } from "../../extension";
import { Panel } from "./panel";
import { Runs } from "./run";

export const extend: Extension = (model) => {
  const runs = new Runs(model);
  return {
    desks: runs.sides.map(({ desk }) => desk),
    places: runs.places,
    Panel: ({ session }) => <Panel session={session} runs={runs} />,
  };
};
