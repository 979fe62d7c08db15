/** The second program of a lesson's page: built into static/lesson.js, which only lessons carry. */
import type { Extension } from "../../extension";
import { checkerOf } from "./checker";
import { Kept } from "./kept";
import type { Lesson } from "./lesson";
import { Panel } from "./panel";

export const extend: Extension = (model) => {
  const kept = new Kept(() => localStorage);
  const lesson = model.get("lesson") as Lesson;
  const checker = checkerOf(model);
  return { places: {}, Panel: ({ session }) => <Panel session={session} lesson={lesson} kept={kept} checker={checker} /> };
};
