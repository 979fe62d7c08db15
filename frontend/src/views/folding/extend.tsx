/** The second program of a page that shows flash attention: built into static/folding.js, which only such pages carry. */
import { signal } from "@preact/signals";
import type { Extension } from "../../extension";
import { Panel } from "./panel";

export const extend: Extension = () => {
  const places = { tile: signal(0), fold: signal(0) };
  return { places, Panel: ({ session }) => <Panel session={session} places={places} /> };
};
