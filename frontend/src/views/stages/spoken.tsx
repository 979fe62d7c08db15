/** What is seen beside the tables, for ears. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Change, Changes } from "../../engine/changes";
import type { Stage } from "../../engine/record";
import type { Looking } from "./looking";
import { cellName, cellText } from "./names";
import { stagesOf } from "./road";
import { told } from "./words";

const QUIET_MS = 700;

/** What there is to tell; of several things the last one here. */
const NEWS = ["stage", "number", "edit"] as const;
type News = (typeof NEWS)[number];

/**
 * The stage that the walk came to, the arithmetic of a number that was kept, what an edit changed. Not of every number
 * that the mouse went over, and after a while, so that quick steps are not all told.
 */
export function Spoken({ looking }: { looking: Looking }): JSX.Element {
  const own = useRef<HTMLParagraphElement>(null);
  const said = useSignal("");
  const news = useRef(-1);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const kept = looking.hovered.value === null ? looking.kept.value : null;
  const [origin, arrived, changes] = [looking.origin.value, looking.arrived.value, looking.changes.value];
  const tell = (): void => {
    const aside = own.current?.parentElement;
    if (!aside) return; // the panel went meanwhile
    said.value = textOf(NEWS[news.current], looking, aside);
    news.current = -1;
  };
  const saySoon = (what: News): void => {
    news.current = Math.max(news.current, NEWS.indexOf(what));
    clearTimeout(timer.current);
    timer.current = setTimeout(tell, QUIET_MS);
  };
  useEffect(() => void (kept !== null && saySoon("number")), [kept, origin]);
  useEffect(() => void (arrived > 0 && saySoon("stage")), [arrived]);
  useEffect(() => void (changes !== null && saySoon("edit")), [changes]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return <p ref={own} class="visually-hidden" aria-live="polite">{said.value}</p>;
}

function textOf(news: News, looking: Looking, aside: HTMLElement): string {
  const changes = looking.changes.peek();
  if (news === "edit") return changes === null ? "" : editText(looking, changes);
  return aside.querySelector(news === "number" ? ".arithmetic" : ".stage-text")!.textContent;
}

/** The number that was changed by hand, where it is one, and how many others changed with it. */
function editText(looking: Looking, changes: Changes): string {
  const all = changesIn(looking, changes);
  const given = all.filter(({ cell: { layer, stage } }) => isGiven(stage, layer));
  const lang = looking.session.choice.lang.peek();
  if (all.length === 0) return "";
  if (given.length !== 1) return told("edited.numbers", lang, { n: all.length });
  return `${changeText(looking, given[0])} ${told("edited.others", lang, { n: all.length - 1 })}`;
}

function changeText(looking: Looking, { cell, before, after }: Change): string {
  const layer = looking.layers.peek()[cell.layer];
  const isMask = cell.stage === "allowed";
  const name = cellName(layer, cell, looking.session.choice.lang.peek(), isMask && after === 0);
  return isMask ? `${name}.` : `${name} ${cellText(cell.stage, before)} → ${cellText(cell.stage, after)}.`;
}

/** All that changed in the tables that are shown. */
function changesIn({ session: { choice, layer: made } }: Looking, changes: Changes): Change[] {
  const [layer, head, query] = [choice.layer.peek(), choice.head.peek(), choice.query.peek()];
  return stagesOf(made.peek()!).flatMap((stage) => {
    return changes.of(layer, stage, head, stage === "weighted_values" ? query : undefined);
  });
}

function isGiven(stage: Stage, layer: number): boolean {
  return (stage === "x" && layer === 0) || stage === "allowed" || stage.startsWith("w_");
}
