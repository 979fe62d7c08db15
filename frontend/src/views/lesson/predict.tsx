/** A guess before the answer; it is kept, right or not, and cannot be made twice. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { BlockFrame, Help } from "./block";
import type { Predict } from "./lesson";
import type { Sitting } from "./sitting";
import { Runs } from "./text";
import { told } from "./words";

/** Which choice was made, where what was done came from elsewhere; it was not the right one. */
const NOBODY_KNOWS = -1;

export function PredictBlock({ sitting, block }: { sitting: Sitting; block: Predict }): JSX.Element {
  const { kept, lesson } = sitting;
  const lang = sitting.lang.value;
  const draft = `${lesson.name}:${block.id}`;
  const unknown = sitting.isRight(block.id) ? block.right : NOBODY_KNOWS;
  const guessed = useSignal(sitting.isDone(block.id) ? Number(kept.draft(draft) ?? unknown) : null);
  const chosen = useSignal(guessed.value);
  const isMissing = useSignal(false);
  const guess = (event: Event): void => {
    event.preventDefault();
    isMissing.value = chosen.value === null;
    if (chosen.value === null) return;
    kept.keep(draft, String(chosen.value));
    kept.add(lesson.name, block.id, chosen.value === block.right ? "right" : "guessed");
    guessed.value = chosen.value;
  };
  return (
    <BlockFrame sitting={sitting} block={block}>
      <form onSubmit={guess}>
        <fieldset disabled={guessed.value !== null}>
          <legend><Runs text={block.ask} lang={lang} /></legend>
          {block.choices.map((choice, at) => (
            <label key={at} class={guessed.value !== null && at === block.right ? "choice right" : "choice"}>
              <input
                type="radio"
                name={`lesson-${block.id}`}
                checked={chosen.value === at}
                onChange={() => (chosen.value = at)}
              />
              <span><Runs text={choice} lang={lang} /></span>
            </label>
          ))}
        </fieldset>
        {guessed.value === null && <button type="submit">{told("guess", lang)}</button>}
        <div role="status" class="verdict">
          {isMissing.value && guessed.value === null && <p>{told("choose", lang)}</p>}
          {guessed.value !== null && <After sitting={sitting} block={block} guessed={guessed.value} />}
        </div>
      </form>
      {guessed.value === null && <Help sitting={sitting} block={block} answer={null} />}
    </BlockFrame>
  );
}

function After({ sitting, block, guessed }: { sitting: Sitting; block: Predict; guessed: number }): JSX.Element {
  const lang = sitting.lang.value;
  const isRight = guessed === block.right;
  return (
    <>
      <p class={isRight ? "is-right" : undefined}>
        <b>{told(isRight ? "guessed_right" : "guessed_other", lang)}</b>
        {!isRight && <> <Runs text={block.choices[block.right]} lang={lang} /></>}
      </p>
      <p><Runs text={block.after} lang={lang} compute={(text) => sitting.compute(text, { answer: block.answer })} /></p>
    </>
  );
}
