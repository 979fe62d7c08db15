/**
 * Code to write. `jumok check` judges it: behind the page where there is a server that runs code, else on the reader's
 * machine, and what it says is brought back. Nothing is ticked by a click.
 */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { isOfOther, verdictIn, verdictOf, type Verdict } from "./asking";
import { BlockFrame, Help } from "./block";
import type { Exercise } from "./lesson";
import type { Sitting } from "./sitting";
import { Code, Command, Runs } from "./text";
import { told } from "./words";

interface Given {
  readonly sitting: Sitting;
  readonly block: Exercise;
}

export function ExerciseBlock({ sitting, block }: Given): JSX.Element {
  const lang = sitting.lang.value;
  const answer = <><p>{told("solution", lang)}</p><Code code={block.solution} /></>;
  return (
    <BlockFrame sitting={sitting} block={block}>
      <p><Runs text={block.say} lang={lang} /></p>
      <Editor sitting={sitting} block={block} />
      {sitting.checker === null ? <Receipt sitting={sitting} block={block} /> : <Judging sitting={sitting} block={block} />}
      <Help sitting={sitting} block={block} answer={answer} />
    </BlockFrame>
  );
}

function draftOf({ sitting: { lesson }, block }: Given): string {
  return `${lesson.name}:${block.id}`;
}

/** What was written is kept at every letter. */
function Editor({ sitting, block }: Given): JSX.Element {
  const { kept, lang: { value: lang } } = sitting;
  const draft = draftOf({ sitting, block });
  const code = useSignal(kept.draft(draft) ?? block.stub);
  const said = useSignal("");
  const write = (text: string): void => {
    code.value = text;
    kept.keep(draft, text);
  };
  const copy = (): void => {
    const copying = navigator.clipboard?.writeText(code.value) ?? Promise.reject(new Error("no clipboard"));
    copying.then(() => (said.value = "copied"), () => (said.value = "not_copied"));
  };
  return (
    <>
      <label class="code">
        <span>{told("code", lang)}</span>
        <textarea
          dir="ltr"
          spellcheck={false}
          autocapitalize="off"
          rows={Math.min(30, code.value.split("\n").length + 2)}
          value={code.value}
          onInput={(event) => write(event.currentTarget.value)}
        />
      </label>
      <div class="asked">
        <button type="button" onClick={copy}>{told("copy", lang)}</button>
        <button type="button" class="plain" disabled={code.value === block.stub} onClick={() => write(block.stub)}>
          {told("start_over", lang)}
        </button>
        <span role="status">{said.value !== "" && told(said.value, lang)}</span>
      </div>
    </>
  );
}

/** A right verdict on this kind of code counts. */
function count({ sitting, block }: Given, verdict: Verdict | null): void {
  if (verdict?.isRight && verdict.kind === block.checks) sitting.kept.add(sitting.lesson.name, block.id, "right");
}

/** Python behind the page runs what stands in the editor. */
function Judging({ sitting, block }: Given): JSX.Element {
  const lang = sitting.lang.value;
  const isAsking = useSignal(false);
  const found = useSignal<Verdict | "none" | null>(null);
  const judge = async (): Promise<void> => {
    if (isAsking.peek()) return;
    isAsking.value = true;
    const code = sitting.kept.draft(draftOf({ sitting, block })) ?? block.stub;
    const answer = await sitting.checker!.ask({ code, checks: block.checks });
    isAsking.value = false;
    if (answer === null) return;
    const verdict = "error" in answer ? { isRight: false, kind: block.checks, text: answer.error } : verdictIn(answer.verdict);
    found.value = verdict ?? "none";
    count({ sitting, block }, verdict);
  };
  return (
    <div class="receipt">
      <div class="asked">
        <button type="button" aria-disabled={isAsking.value} onClick={() => void judge()}>{told(isAsking.value ? "running" : "run", lang)}</button>
      </div>
      <div role="status" class="verdict">
        {found.value !== null && <Said found={found.value} block={block} sitting={sitting} />}
      </div>
    </div>
  );
}

function Receipt({ sitting, block }: Given): JSX.Element {
  const lang = sitting.lang.value;
  const text = useSignal("");
  const found = useSignal<Verdict | "none" | null>(null);
  const take = (verdict: Verdict | null): void => {
    found.value = verdict ?? "none";
    count({ sitting, block }, verdict);
  };
  return (
    <div class="receipt">
      <p>{told("no_python", lang, { file: block.file })}</p>
      <Command command={block.command} />
      <label>
        <span>{told("receipt", lang)}</span>
        <textarea
          dir="ltr"
          spellcheck={false}
          rows={2}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </label>
      <div class="asked">
        <button type="button" disabled={text.value.trim() === ""} onClick={() => take(verdictOf(text.value))}>
          {told("take", lang)}
        </button>
      </div>
      <div role="status" class="verdict">
        {found.value !== null && <Said found={found.value} block={block} sitting={sitting} />}
      </div>
    </div>
  );
}

function Said({ found, block, sitting }: Given & { found: Verdict | "none" }): JSX.Element {
  const lang = sitting.lang.value;
  if (found === "none") return <p>{told("no_verdict", lang)}</p>;
  if (isOfOther(found, block.checks)) return <p>{told("other_kind", lang, { kind: String(found.kind) })}</p>;
  return <p class={found.isRight ? "is-right lines" : "lines"}>{found.text[lang]}</p>;
}
