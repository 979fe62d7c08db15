/** The lesson beside the live view; where there is room for one of them, a switch. */
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useSignalEffect } from "@preact/signals";
import type { Session } from "../../state";
import type { Checker } from "./checker";
import { ExerciseBlock } from "./exercise";
import { Goals, ProgressPart } from "./goals";
import type { Kept } from "./kept";
import css from "./lesson.css";
import type { Element, Lesson } from "./lesson";
import { PredictBlock } from "./predict";
import { QuestionBlock } from "./question";
import { ShowLink } from "./show";
import { Sitting, type Pane } from "./sitting";
import { PieceOf, Runs } from "./text";
import { GoalSaid, TryBlock } from "./try";
import { told } from "./words";

interface Given {
  readonly session: Session;
  readonly lesson: Lesson;
  readonly kept: Kept;
  readonly checker: Checker | null;
}

export function Panel({ session, lesson, kept, checker }: Given): JSX.Element {
  const sitting = useMemo(() => new Sitting(session, lesson, kept, checker), [session]);
  const panel = useRef<HTMLElement>(null);
  useSignalEffect(() => {
    const { dataset } = panel.current!.parentElement!;
    dataset.pane = sitting.pane.value;
    dataset.guess = sitting.isGuessOpen.value ? "open" : "made";
  });
  useEffect(() => {
    // the page itself does not scroll: keys should move the text
    if (document.activeElement === document.body) panel.current!.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    const changed = (): void => kept.read();
    addEventListener("storage", changed);
    return () => removeEventListener("storage", changed);
  }, [kept]);
  const lang = sitting.lang.value;
  return (
    <>
      <style>{css}</style>
      <section class="lesson" lang={lang} aria-label={told("lesson", lang)} ref={panel} tabIndex={-1}>
        <div class="page">
          <Standing sitting={sitting} />
          {sitting.elements.value.map((element, at) => <ElementOf key={at} element={element} sitting={sitting} />)}
          <Goals sitting={sitting} />
          <ProgressPart sitting={sitting} />
        </div>
      </section>
      <Switch sitting={sitting} panel={panel} />
    </>
  );
}

/** How long it takes, and how much of it was done. */
function Standing({ sitting }: { sitting: Sitting }): JSX.Element {
  const lang = sitting.lang.value;
  const all = sitting.asking.value;
  const n = all.filter(({ id }) => sitting.isDone(id)).length;
  return (
    <p class="standing quiet">
      {told("minutes", lang, { n: sitting.lesson.minutes })} · {told("of", lang, { n, all: all.length })}
    </p>
  );
}

function ElementOf({ element, sitting }: { element: Element; sitting: Sitting }): JSX.Element | null {
  switch (element.kind) {
    case "show": return <ShowLink sitting={sitting} block={element} />;
    case "predict": return <PredictBlock sitting={sitting} block={element} />;
    case "question": return sitting.given.value && <QuestionBlock sitting={sitting} block={element} />;
    case "try": return <TryBlock sitting={sitting} block={element} />;
    case "exercise": return <ExerciseBlock sitting={sitting} block={element} />;
    default: return <PieceOf piece={element} lang={sitting.lang.value} />;
  }
}

/** What is to be changed, where the lesson is not seen beside it. */
function Task({ sitting }: { sitting: Sitting }): JSX.Element | null {
  const { session, task: { value: block }, pane, lang: { value: lang } } = sitting;
  if (block?.choice.document !== session.choice.document.value || pane.value === "lesson") return null;
  if (sitting.isRight(block.id) && !sitting.isReaching(block)) return null;
  return (
    <div class="task">
      <details open>
        <summary>{told("try", lang)}</summary>
        <p><Runs text={block.say} lang={lang} /></p>
      </details>
      <GoalSaid sitting={sitting} block={block} />
    </div>
  );
}

/** Seen where there is room for one; else it is the keyboard's way back. */
function Switch({ sitting, panel }: { sitting: Sitting; panel: { current: HTMLElement | null } }): JSX.Element {
  const lang = sitting.lang.value;
  const turn = (pane: Pane): void => {
    sitting.pane.value = pane;
    const live = panel.current!.parentElement!.querySelector<HTMLElement>("#jumok-view [tabindex]");
    (pane === "lesson" ? panel.current : live)?.focus({ preventScroll: true });
  };
  return (
    <div class="lesson-switch" role="group" aria-label={told("both", lang)}>
      <Task sitting={sitting} />
      {(["lesson", "live"] as const).map((pane) => (
        <button key={pane} type="button" aria-pressed={sitting.pane.value === pane} onClick={() => turn(pane)}>
          {told(pane, lang)}
        </button>
      ))}
    </div>
  );
}
