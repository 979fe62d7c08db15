/** The keys of one row, each with what is wanted of it: by a slider, by a number, or left free; and what it gets. */
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { number } from "../../explanation/words";
import { rowOf } from "../../engine/path";
import type { Token } from "../../engine/record";
import { Refused } from "../../engine/sheet";
import { allowedKeys, tidy, withinMask, withoutWeight, withWeight, type WantedRow } from "../../engine/wanted";
import { parsed, steppedText } from "../stages/editing";
import type { Looking } from "../stages/looking";
import { refusal } from "../stages/refusals";
import { nameOf, TokenText } from "../tokens";
import type { Designing } from "./designing";
import { said } from "./words";

interface KeysProps {
  readonly looking: Looking;
  readonly designing: Designing;
  /** As it was written; null: free. */
  readonly row: WantedRow | null;
  /** Made whole; null where it is free, or cannot be. */
  readonly whole: Float64Array | null;
}

interface Refusal {
  readonly key: number;
  readonly why: Refused;
}

export function Keys({ looking, designing, row, whole }: KeysProps): JSX.Element {
  const { head, query, lang } = looking.session.choice;
  const layer = looking.session.layer.value!;
  const allowed = allowedKeys(layer, query.value);
  const reached = rowOf(layer, head.value, query.value).weights;
  const base = withinMask(row ?? {}, allowed, whole);
  const refused = useSignal<Refusal | null>(null);
  const want = (key: number, made: () => WantedRow | null, join = false): boolean => {
    const next = attempt(made);
    const why = next instanceof Refused ? next : designing.want(head.value, query.value, next, { join });
    refused.value = why && { key, why };
    return why === null;
  };
  const wrong = refused.value;
  return (
    <>
      <ul class="design-keys">
        <li class="heads" aria-hidden="true">
          <span class="of-key">{said("of.key", lang.value)}</span>
          <span class="of-wanted">{said("of.wanted", lang.value)}</span>
          <span class="of-reached">{said("of.reached", lang.value)}</span>
        </li>
        {layer.tokens.map((token, key) => (
          <KeyLine
            key={`${query.value} ${key}`}
            looking={looking}
            token={token}
            isHidden={allowed[key] === 0}
            given={row?.[key] ?? null}
            wanted={whole?.[key] ?? null}
            reached={reached[key]}
            wrong={wrong?.key === key ? refusal(wrong.why, lang.value) : null}
            row={base}
            set={(value, from, join) => want(key, () => withWeight(from, allowed, key, value), join)}
            refuse={(why) => (refused.value = why && { key, why })}
            free={() => want(key, () => withoutWeight(base, key))}
          />
        ))}
      </ul>
      <p class="note">{said("shares", lang.value)}</p>
    </>
  );
}

function attempt<T>(make: () => T): T | Refused {
  try {
    return make();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

interface LineProps {
  readonly looking: Looking;
  readonly token: Token;
  readonly isHidden: boolean;
  /** What was written for it; null: it is free. */
  readonly given: number | null;
  readonly wanted: number | null;
  readonly reached: number;
  readonly wrong: string | null;
  readonly row: WantedRow;
  /** Want so much, in a row that was like this; whether it could be. */
  readonly set: (value: number, from: WantedRow, join: boolean) => boolean;
  /** Say why what was typed is no weight; null: say no more. */
  readonly refuse: (why: Refused | null) => void;
  readonly free: () => void;
}

function KeyLine(line: LineProps): JSX.Element {
  const { token, isHidden, given, reached, wrong } = line;
  return (
    <li class={isHidden ? "masked" : given === null ? "is-free" : undefined}>
      <span class="of-key"><TokenText token={token} /></span>
      {isHidden ? <Hidden line={line} /> : <Wish line={line} />}
      <span class="of-reached">
        <span class="bar" style={{ width: `${100 * reached}%` }} />
        <span class="digits">{number(reached)}</span>
      </span>
      {wrong !== null && <p class="refused" role="alert">{wrong}</p>}
    </li>
  );
}

/** The same weight three ways: as a slider, as a number, and whether it is set at all. */
function Wish({ line }: { line: LineProps }): JSX.Element {
  const { looking, token, given, wanted, reached, row, set, free } = line;
  const lang = looking.session.choice.lang.value;
  const [query, key] = [looking.asking.value, nameOf(token)];
  const shown = wanted ?? given;
  return (
    <>
      <Slider line={line} label={said("slider", lang, { query, key, wanted: wantedText(shown), reached })} />
      <Field line={line} label={said("field", lang, { query, key })} />
      <label class="is-set">
        <input
          type="checkbox"
          aria-label={said("is.set", lang, { query, key })}
          checked={given !== null}
          onChange={() => (given === null ? set(tidy(shown ?? reached), row, false) : free())}
        />
        <span aria-hidden="true">{said(given === null ? "free" : "set", lang)}</span>
      </label>
    </>
  );
}

function wantedText(wanted: number | null): string {
  return wanted === null ? "–" : number(wanted);
}

function Hidden({ line: { looking, token, given, free } }: { line: LineProps }): JSX.Element {
  const lang = looking.session.choice.lang.value;
  if (given === null) return <span class="why-hidden">{said("hidden", lang)}</span>;
  return (
    <span class="why-hidden">
      {said("hidden.wanted", lang, { weight: given })}{" "}
      <button type="button" onClick={free}>{said("drop", lang, { key: nameOf(token) })}</button>
    </span>
  );
}

interface InputProps {
  readonly line: LineProps;
  readonly label: string;
}

/** Moved at one go, however far, it is one edit; the other keys are what they were before it. */
function Slider({ line: { given, wanted, reached, row, set }, label }: InputProps): JSX.Element {
  const going = useRef<{ readonly row: WantedRow; isBegun: boolean } | null>(null);
  const value = wanted ?? given ?? reached;
  return (
    <input
      type="range"
      min="0"
      max="1"
      step="0.01"
      aria-label={label}
      aria-valuetext={wantedText(wanted ?? given)}
      value={value}
      onInput={(event) => {
        going.current ??= { row, isBegun: false };
        const isDone = set(Number(event.currentTarget.value), going.current.row, going.current.isBegun);
        if (isDone) going.current.isBegun = true;
        else event.currentTarget.value = String(value);
      }}
      onChange={() => (going.current = null)}
    />
  );
}

/** The same as a number, to be typed or stepped with the arrows. */
function Field({ line: { given, wanted, row, wrong, set, refuse, free }, label }: InputProps): JSX.Element {
  const typed = useSignal<string | null>(null);
  const shown = wanted ?? given;
  const commit = (text: string): void => {
    if (text.trim() === "") { // nothing is wanted of it
      typed.value = null;
      if (given === null) refuse(null);
      else free();
      return;
    }
    const value = parsed(text);
    if (value instanceof Refused) refuse(value);
    else if (value === shown || set(value, row, false)) typed.value = null;
  };
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLInputElement }): void => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    event.stopPropagation();
    if (by !== undefined) {
      event.preventDefault();
      commit(steppedText(event.currentTarget.value, by, event.shiftKey));
    } else if (event.key === "Enter") commit(event.currentTarget.value);
    else if (event.key === "Escape") typed.value = null;
  };
  return (
    <input
      type="text"
      class="wanted"
      inputMode="decimal"
      autocomplete="off"
      aria-label={label}
      aria-invalid={wrong !== null}
      value={typed.value ?? wantedText(shown)}
      onInput={(event) => (typed.value = event.currentTarget.value)}
      onKeyDown={onKeyDown}
      onBlur={(event) => typed.value !== null && commit(event.currentTarget.value)}
    />
  );
}
