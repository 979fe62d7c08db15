/** The menu of a token's or a dimension's name: choose, rename, add, move, remove. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Lang } from "../../engine/record";
import type { Edit } from "../../engine/sheet";
import type { Looking } from "./looking";
import { refusal } from "./refusals";
import { told } from "./words";

export interface MenuOf {
  readonly kind: "token" | "dimension";
  readonly at: number;
  /** A name that is asked for at once: the menu was opened by an "add" button. */
  readonly naming?: Naming;
}

type Naming = "rename" | "before" | "after";

interface MenuProps {
  readonly looking: Looking;
  readonly of: MenuOf;
  readonly lang: Lang;
  readonly close: () => void;
}

export function AxisMenu({ looking, of, lang, close }: MenuProps): JSX.Element {
  const own = useRef<HTMLDivElement>(null);
  const naming = useSignal<Naming | null>(of.naming ?? null);
  const wrong = useSignal<string | null>(null);
  const { desk } = looking.session;
  const name = namesIn(looking, of.kind)[of.at];
  useEffect(() => own.current!.querySelector<HTMLElement>("input, button")!.focus(), [naming.value]);
  useEffect(() => closedOutside(own.current!, close), []);
  const apply = (edit: Edit): void => {
    const refused = desk.value.apply(edit);
    wrong.value = refused && refusal(refused, lang);
    if (!refused) close();
  };
  return (
    <div
      ref={own}
      class="axis-menu"
      role="dialog"
      aria-label={told(`menu.${of.kind}`, lang, { name })}
      onKeyDown={(event) => moved(event, own.current!, close)}
    >
      {naming.value === null ? (
        <Items looking={looking} of={of} lang={lang} apply={apply} close={close} name={(one) => (naming.value = one)} />
      ) : (
        <NameField
          of={of}
          lang={lang}
          text={naming.value === "rename" ? name : ""}
          naming={naming.value}
          apply={apply}
          close={close}
        />
      )}
      {wrong.value !== null && <p class="refused" role="alert">{wrong.value}</p>}
    </div>
  );
}

interface ItemsProps extends MenuProps {
  readonly apply: (edit: Edit) => void;
  readonly name: (naming: Naming) => void;
}

function Items({ looking, of: { kind, at }, lang, apply, close, name }: ItemsProps): JSX.Element {
  const n = namesIn(looking, kind).length;
  const choose = (chosen: { query?: number; key?: number }): void => {
    looking.session.choose(chosen);
    close();
  };
  const add = (naming: Naming, to: number): void => {
    if (kind === "dimension" && !isNamed(looking)) apply({ add: kind, at: to, text: "" });
    else name(naming);
  };
  const items: [string, () => void, boolean?][] = [
    ...(kind === "token" ? [
      ["query", () => choose({ query: at })] as [string, () => void],
      ["key", () => choose({ key: at })] as [string, () => void],
    ] : []),
    ["rename", () => name("rename"), kind === "dimension" && !isNamed(looking)],
    ["before", () => add("before", at)],
    ["after", () => add("after", at + 1)],
    [`earlier.${kind}`, () => apply({ move: kind, from: at, to: at - 1 }), at === 0],
    [`later.${kind}`, () => apply({ move: kind, from: at, to: at + 1 }), at === n - 1],
    ["remove", () => apply({ remove: kind, at })],
    ["close", close],
  ];
  return (
    <>
      {items.map(([word, act, isOff]) => (
        <button key={word} type="button" disabled={isOff} onClick={act}>
          {told(`menu.${word}`, lang)}
        </button>
      ))}
    </>
  );
}

interface NameProps {
  readonly of: MenuOf;
  readonly lang: Lang;
  readonly text: string;
  readonly naming: Naming;
  readonly apply: (edit: Edit) => void;
  readonly close: () => void;
}

function NameField({ of: { kind, at }, lang, text, naming, apply, close }: NameProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const typed = field.current!.value;
    const to = naming === "after" ? at + 1 : at;
    apply(naming === "rename" ? { rename: kind, at, text: typed } : { add: kind, at: to, text: typed });
  };
  return (
    <form onSubmit={submit}>
      <label>
        {told(`name.${kind}`, lang)}
        <input ref={field} type="text" autocomplete="off" defaultValue={text} />
      </label>
      <div class="choices">
        <button type="submit">{told("ok", lang)}</button>
        <button type="button" onClick={close}>{told("cancel", lang)}</button>
      </div>
    </form>
  );
}

function namesIn({ session }: Looking, kind: "token" | "dimension"): string[] {
  const sheet = session.desk.value.sheet.value!;
  if (kind === "token") return sheet.tokens.map((token) => token.text);
  return Array.from({ length: sheet.x.columns }, (_, at) => sheet.dimensions?.[at] ?? String(at + 1));
}

function isNamed({ session }: Looking): boolean {
  return !!session.desk.value.sheet.value?.dimensions;
}

/** Arrows move between the buttons, Escape closes. */
function moved(event: KeyboardEvent, menu: HTMLElement, close: () => void): void {
  event.stopPropagation();
  if (event.key === "Escape") close();
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  const buttons = [...menu.querySelectorAll<HTMLButtonElement>("button:not(:disabled)")];
  const at = buttons.indexOf(event.target as HTMLButtonElement) + by;
  buttons[(at + buttons.length) % buttons.length].focus();
}

/** Close when something outside is pressed; the way to stop listening. */
function closedOutside(menu: HTMLElement, close: () => void): () => void {
  const pressed = (event: PointerEvent): void => {
    if (!event.composedPath().includes(menu)) close();
  };
  const page = menu.ownerDocument;
  page.addEventListener("pointerdown", pressed);
  return () => page.removeEventListener("pointerdown", pressed);
}
