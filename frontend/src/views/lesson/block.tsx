/** What all blocks have: a title that says what was done, and help in steps up to the answer. */
import type { ComponentChildren, JSX } from "preact";
import { useSignal } from "@preact/signals";
import type { Asking } from "./lesson";
import type { Sitting } from "./sitting";
import { Runs, type Compute } from "./text";
import { told } from "./words";

interface Given {
  readonly sitting: Sitting;
  readonly block: Asking;
  readonly children: ComponentChildren;
}

export function BlockFrame({ sitting, block, children }: Given): JSX.Element {
  const lang = sitting.lang.value;
  const title = `lesson-${block.id}-title`;
  const mark = markOf(sitting, block);
  const said = mark && told(mark === "right" ? "done" : mark, lang);
  return (
    <section class="block" id={`lesson-${block.id}`} aria-labelledby={title} data-mark={mark}>
      <h3 id={title}>
        {told(block.kind, lang)}
        {said && <span class="mark"> {mark === "right" && "✓ "}{said}</span>}
      </h3>
      {children}
    </section>
  );
}

function markOf({ kept, lesson: { name } }: Sitting, { id }: Asking): "right" | "guessed" | "seen" | undefined {
  return (["right", "guessed", "seen"] as const).find((how) => kept.has(name, id, how));
}

interface HelpGiven {
  readonly sitting: Sitting;
  readonly block: Asking;
  /** The answer, when it is asked for after the last hint; null where there is none to be asked for. */
  readonly answer: ComponentChildren;
  /** What the hints of a question say of the numbers that were drawn. */
  readonly compute?: Compute;
}

/** One hint at a time, then the answer, which does not count as done. */
export function Help({ sitting, block, answer, compute }: HelpGiven): JSX.Element {
  const lang = sitting.lang.value;
  const given = useSignal(0);
  const { hints } = block;
  const n = given.value;
  const isTold = n > hints.length;
  const isOver = answer === null ? n === hints.length : isTold;
  const next = (): void => {
    given.value += 1;
    if (given.value <= hints.length || sitting.isRight(block.id)) return;
    sitting.kept.add(sitting.lesson.name, block.id, "seen");
  };
  return (
    <div class="help">
      <div role="status">
        {hints.slice(0, n).map((hint, at) => (
          <p key={at} class="hint">
            <b>{told("hint", lang, { n: at + 1 })}</b> <Runs text={hint} lang={lang} compute={compute} />
          </p>
        ))}
        {isTold && <div class="answer">{answer}<p class="quiet">{told("not_counted", lang)}</p></div>}
      </div>
      {!isOver && <button type="button" class="plain" onClick={next}>{nextName(sitting, hints.length, n)}</button>}
    </div>
  );
}

function nextName(sitting: Sitting, all: number, n: number): string {
  const lang = sitting.lang.value;
  if (n >= all) return told("give_answer", lang);
  return n === 0 ? told("give_hint", lang) : told("give_next", lang, { n: n + 1, all });
}
