/** A question whose numbers are drawn anew; a likely slip is named. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { Named } from "../../engine/expressions";
import { drawn, judged, type Judged } from "./asking";
import { BlockFrame, Help } from "./block";
import type { Question } from "./lesson";
import type { Sitting } from "./sitting";
import { Runs, said, type Compute } from "./text";
import { told } from "./words";

export function QuestionBlock({ sitting, block }: { sitting: Sitting; block: Question }): JSX.Element {
  const lang = sitting.lang.value;
  const numbers = useSignal<Named>(useMemo(() => drawn(block), [block.id]));
  const text = useSignal("");
  const found = useSignal<Judged | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const compute: Compute = (expression) => sitting.compute(expression, numbers.value);
  const withAnswer: Compute = (expression) => {
    return sitting.compute(expression, { ...numbers.value, answer: compute(block.answer) });
  };
  const check = (event: Event): void => {
    event.preventDefault();
    found.value = judged(block, text.value, compute, sitting.lesson.typed);
    if (found.value.kind === "right") sitting.kept.add(sitting.lesson.name, block.id, "right");
  };
  const another = (): void => {
    numbers.value = drawn(block, numbers.value);
    text.value = "";
    found.value = null;
    field.current!.focus();
  };
  const answer = (
    <>
      <p>{told("answer_is", lang, { answer: said(compute(block.answer), "", lang) })}</p>
      <p><Runs text={block.after} lang={lang} compute={withAnswer} /></p>
    </>
  );
  return (
    <BlockFrame sitting={sitting} block={block}>
      <form onSubmit={check}>
        <p><Runs text={block.ask} lang={lang} compute={compute} /></p>
        <div class="asked">
          <label>
            <span>{told("your_answer", lang)}</span>
            <input
              ref={field}
              type="text"
              autocomplete="off"
              value={text.value}
              onInput={(event) => (text.value = event.currentTarget.value)}
            />
          </label>
          <button type="submit">{told("check", lang)}</button>
          {block.draws.length > 0 && (
            <button type="button" class="plain" onClick={another}>{told("another", lang)}</button>
          )}
        </div>
        <div role="status" class="verdict">
          {found.value !== null && <Verdict found={found.value} block={block} sitting={sitting} compute={withAnswer} />}
        </div>
      </form>
      <Help key={JSON.stringify(numbers.value)} sitting={sitting} block={block} answer={answer} compute={compute} />
    </BlockFrame>
  );
}

interface VerdictGiven {
  readonly found: Judged;
  readonly block: Question;
  readonly sitting: Sitting;
  readonly compute: Compute;
}

function Verdict({ found, block, sitting, compute }: VerdictGiven): JSX.Element {
  const lang = sitting.lang.value;
  if (found.kind === "no_number") return <p>{told("no_number", lang)}</p>;
  const isRight = found.kind === "right";
  const text = isRight ? block.after : found.kind === "slip" ? found.said : [];
  return (
    <p class={isRight ? "is-right" : undefined}>
      <b>{told(isRight ? "right" : "wrong", lang)}</b> <Runs text={text} lang={lang} compute={compute} />
    </p>
  );
}
