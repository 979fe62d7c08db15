/** Something to change in the live view, until its numbers reach a goal: seen at once, and said quietly. */
import type { JSX } from "preact";
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Sheet } from "../../engine/sheet";
import { BlockFrame, Help } from "./block";
import type { Try } from "./lesson";
import { arrive } from "./show";
import type { Sitting } from "./sitting";
import { mathy, Runs } from "./text";
import { told } from "./words";

const SEEN = 0.2; // of it, on the screen

export function TryBlock({ sitting, block }: { sitting: Sitting; block: Try }): JSX.Element {
  const lang = sitting.lang.value;
  const desk = sitting.session.desks[block.choice.document];
  const place = useRef<HTMLDivElement>(null);
  useRecognition(sitting, block, place);
  const sheet = desk.sheet.value;
  const answer = <p>{told("one_way", lang)} {mathy(block.solution)}</p>;
  return (
    <BlockFrame sitting={sitting} block={block}>
      <div ref={place}>
        <p><Runs text={block.say} lang={lang} /></p>
        {sheet === null ? (
          <p>{told("not_here", lang)} <code>{block.command}</code></p>
        ) : (
          <div class="asked">
            <button type="button" onClick={(event) => begin(event.currentTarget.ownerDocument, sitting, block)}>
              {told("open", lang)}
            </button>
            <button type="button" class="plain" disabled={sheet === desk.original} onClick={() => desk.reset()}>
              {told("start_over", lang)}
            </button>
          </div>
        )}
        <GoalSaid sitting={sitting} block={block} />
      </div>
      <Help sitting={sitting} block={block} answer={answer} />
    </BlockFrame>
  );
}

/** Bring the live view to where it begins. */
function begin(page: Document, sitting: Sitting, block: Try): void {
  sitting.task.value = block;
  sitting.show(block.choice);
  requestAnimationFrame(() => arrive(page, "stages", block.choice));
}

/** What is so now; it is said when it changes. */
export function GoalSaid({ sitting, block }: { sitting: Sitting; block: Try }): JSX.Element {
  const lang = sitting.lang.value;
  const isReached = sitting.isReaching(block);
  return (
    <p role="status" class={isReached ? "verdict is-right" : "verdict"}>
      {isReached ? <b>{told("reached", lang)}</b> : sitting.isChanged(block) && told("not_reached", lang)}
    </p>
  );
}

/** A goal counts when an edit reaches it that was made after it was read; one made for something else does not. */
function useRecognition(sitting: Sitting, block: Try, place: { current: HTMLElement | null }): void {
  const desk = sitting.session.desks[block.choice.document];
  const before = useSignal<Sheet | null | undefined>(undefined);
  const seen = (): void => {
    before.value = desk.sheet.peek();
    sitting.task.value = block;
  };
  useEffect(() => whenSeen(place.current!, seen), [block.id]);
  useSignalEffect(() => {
    const sheet = desk.sheet.value;
    if (before.value === undefined || sheet === before.value || !sitting.isReaching(block)) return;
    sitting.kept.add(sitting.lesson.name, block.id, "right");
  });
}

/** Once, when a part of it is on the screen. */
function whenSeen(element: HTMLElement, seen: () => void): () => void {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    seen();
  }, { threshold: SEEN });
  observer.observe(element);
  return () => observer.disconnect();
}
