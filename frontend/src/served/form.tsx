/** Forms that start a job: labels above fields, what is wrong under them, and a button that keeps the focus while it is busy. */
import type { ComponentChildren, JSX } from "preact";
import { useId, useMemo } from "preact/hooks";
import { useSignal, useSignalEffect, type Signal } from "@preact/signals";
import { Declined, type Texts } from "./answers";
import type { Served } from "./served";
import { told, type Word } from "./words";

/** What the server is sent. */
export type Asked = Readonly<Record<string, unknown>> & { readonly kind: string };

/** What is wrong with what was typed. */
export class Wrong extends Error {
  constructor(readonly texts: Texts) {
    super(texts.en);
  }
}

interface Given {
  readonly served: Served;
  readonly go: Word;
  /** Throws Wrong. */
  readonly asked: () => Asked;
  readonly children: ComponentChildren;
}

export function JobForm({ served, go, asked, children }: Given): JSX.Element {
  const lang = served.lang.value;
  const isSending = useSignal(false);
  const wrong = useSignal<Texts | null>(null);
  const send = async (): Promise<void> => {
    if (isSending.peek()) return;
    isSending.value = true;
    wrong.value = null;
    try {
      const { id } = (await served.line.write("/api/jobs", asked())) as { id: string };
      served.window.location.assign(served.to(`/jobs/${id}`));
    } catch (error) {
      wrong.value = error instanceof Wrong || error instanceof Declined ? error.texts : inBoth("unsure");
      isSending.value = false;
    }
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {children}
      <button type="submit" class="go" aria-disabled={isSending.value}>{told(isSending.value ? "sending" : go, lang)}</button>
      <p role="alert" class="wrong">{wrong.value?.[lang]}</p>
    </form>
  );
}

/** A text that is still there when its form is seen again in this tab: what was refused can be shortened. */
export function useDraft({ window }: Served, name: string): Signal<string> {
  const key = `jumok-typed:${name}`;
  const text = useSignal(useMemo(() => tried(() => window.sessionStorage.getItem(key)) ?? "", []));
  useSignalEffect(() => {
    const { value } = text;
    tried(() => window.sessionStorage.setItem(key, value));
  });
  return text;
}

/** null where the browser keeps nothing for this page. */
function tried<T>(use: () => T): T | null {
  try {
    return use();
  } catch {
    return null;
  }
}

interface FieldGiven {
  readonly label: string;
  readonly value: Signal<string>;
  readonly rows?: number;
  readonly inputMode?: "numeric" | "text";
  readonly hint?: string | null;
}

export function Field({ label, value, rows, inputMode = "text", hint = null }: FieldGiven): JSX.Element {
  const id = useId();
  const shared = {
    id,
    value: value.value,
    "aria-describedby": hint === null ? undefined : `${id}-hint`,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => (value.value = currentTarget.value),
  };
  return (
    <p class={rows === undefined ? "field" : "field wide"}>
      <label for={id}>{label}</label>
      {rows === undefined ? <input type="text" autocomplete="off" inputMode={inputMode} {...shared} /> : <textarea rows={rows} dir="auto" {...shared} />}
      {hint !== null && <span class="quiet" id={`${id}-hint`}>{hint}</span>}
    </p>
  );
}

interface ChoiceGiven {
  readonly label: string;
  readonly value: Signal<string>;
  readonly options: readonly (readonly [name: string, title: string])[];
}

export function Choice({ label, value, options }: ChoiceGiven): JSX.Element {
  const id = useId();
  return (
    <p class="field wide">
      <label for={id}>{label}</label>
      <select id={id} value={value.value} onChange={({ currentTarget }) => (value.value = currentTarget.value)}>
        {options.map(([name, title]) => <option key={name} value={name}>{title}</option>)}
      </select>
    </p>
  );
}

/** A whole number as it was typed. Throws Wrong. */
export function wholeOf(text: string, name: Word, low: number): number {
  const whole = /^\d+$/.test(text.trim()) ? Number(text) : NaN;
  // a larger one would be sent rounded
  if (whole > Number.MAX_SAFE_INTEGER) throw new Wrong(inBoth("too_large", (lang) => ({ name: told(name, lang) })));
  if (whole >= low) return whole;
  throw new Wrong(inBoth("no_whole", (lang) => ({ name: told(name, lang), low })));
}

/** A text that is not empty. Throws Wrong. */
export function textOf(text: string): string {
  if (text.trim() === "") throw new Wrong(inBoth("empty"));
  return text;
}

function inBoth(word: Word, data: (lang: "en" | "ko") => Record<string, string | number> = () => ({})): Texts {
  return { en: told(word, "en", data("en")), ko: told(word, "ko", data("ko")) };
}
