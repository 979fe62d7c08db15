/** All heads as cells: one tab stop, every head by arrows. A cell has a colour and letters, or, without evidence, its own look. */
import type { JSX, RefObject } from "preact";
import { batch, useComputed, useSignal, useSignalEffect, type ReadonlySignal, type Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Lang } from "../../engine/record";
import { number } from "../../explanation/words";
import { css, inkOn, weightColour } from "../../look/colours";
import { say } from "../../words";
import { moved } from "../heads/moved";
import type { Choice } from "./choice";
import { inLanguage, type Card, type Measured } from "./measured";
import { MEASURED } from "./words";

const SIGNS: Readonly<Record<Card["kind"], string>> = { named: "", trace: "~", none: "·", few: "?", unmeasured: "?" };

export function HeadMap({ choice }: { choice: Choice }): JSX.Element {
  const lang = choice.lang.value;
  const { told } = choice.measured;
  const role = told.roles[choice.role.value];
  const pointed = useSignal<number | null>(null);
  const shown = role === undefined
    ? say(MEASURED, "shows_roles", lang)
    : say(MEASURED, "shows_role", lang, { title: inLanguage(role.title, lang), text: inLanguage(role.text, lang) });
  return (
    <section class="map" aria-labelledby="map-title">
      <h2 id="map-title" tabIndex={-1}>{say(MEASURED, "map", lang)}</h2>
      <RolePicker choice={choice} />
      <p class="quiet">{shown}</p>
      <p id="map-help" class="visually-hidden">{say(MEASURED, "map_help", lang)}</p>
      <Cells choice={choice} pointed={pointed} />
      <Pointed choice={choice} pointed={pointed} />
      <p><a class="to-card" href="#" onClick={(event) => leap(event, "card-title")}>{say(MEASURED, "to_card", lang)}</a></p>
      {role === undefined && <Legend measured={choice.measured} lang={lang} />}
    </section>
  );
}

/** Move on to a heading without touching the address, which is taken. */
export function leap(event: Event, id: string): void {
  event.preventDefault();
  const heading = document.getElementById(id);
  heading?.focus();
  heading?.scrollIntoView({ block: "start" });
}

function RolePicker({ choice }: { choice: Choice }): JSX.Element {
  const lang = choice.lang.value;
  const { families, roles } = choice.measured.told;
  const choose = (to: string): void => {
    choice.role.value = Number(to);
    choice.page.value = 0;
  };
  return (
    <label class="role-picker">
      {say(MEASURED, "role", lang)}{" "}
      <select value={choice.role.value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value={-1}>{say(MEASURED, "every_role", lang)}</option>
        {families.map(({ title }, family) => roles.some((role) => role.family === family) && (
          <optgroup key={family} label={inLanguage(title, lang)}>
            {roles.map((role, at) => role.family === family && (
              <option key={role.name} value={at}>{inLanguage(role.title, lang)}</option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

/** What a cell says in words. */
function named({ measured, lang: { value: lang }, role: { value: chosen } }: Choice, at: number): string {
  const { cards, roles } = measured.told;
  const { layer, head, role, kind } = cards[at];
  if (chosen >= 0) {
    const row = measured.row(at, chosen);
    const title = inLanguage(roles[chosen].title, lang);
    if (row < 0) return say(MEASURED, "unnamed", lang, { layer, head, said: `${title}, ${say(MEASURED, "few", lang)}` });
    const verdict = say(MEASURED, measured.verdict(row), lang);
    return say(MEASURED, "of_role", lang, { layer, head, title, score: number(measured.columns.score[row]), verdict });
  }
  if (role < 0) return say(MEASURED, "unnamed", lang, { layer, head, said: say(MEASURED, kind === "unmeasured" ? "few" : kind, lang) });
  const score = number(measured.columns.score[measured.row(at, role)]);
  return say(MEASURED, "named", lang, { layer, head, title: inLanguage(roles[role].title, lang), score });
}

interface CellsGiven {
  readonly choice: Choice;
  readonly pointed: Signal<number | null>;
}

function Pointed({ choice, pointed }: CellsGiven): JSX.Element {
  return <p class="head-told">{named(choice, pointed.value ?? choice.card.value)}</p>;
}

/** A thousand cells have no signals and no listeners of their own: that would be most of the time in which the page opens. */
function Cells({ choice, pointed }: CellsGiven): JSX.Element {
  const lang = choice.lang.value;
  const { n_heads } = choice.measured.told;
  const columns = Math.max(...n_heads);
  const grid = useRef<HTMLDivElement>(null);
  const focused = useSignal<number | null>(null);
  const stop = useComputed(() => focused.value ?? choice.card.value);
  useMark(grid, choice.card, "aria-selected", "true", "false");
  useMark(grid, stop, "tabindex", "0", "-1");
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = moved(event, stop.peek(), n_heads);
    if (to === null) return;
    event.preventDefault();
    cellAt(grid, to)!.focus();
  };
  const on = (act: (at: number) => void) => ({ target }: Event): void => {
    const { at } = (target as HTMLElement).closest<HTMLElement>("[data-at]")?.dataset ?? {};
    if (at !== undefined) act(Number(at));
  };
  const focus = (at: number): void => batch(() => {
    focused.value = at;
    pointed.value = at;
  });
  const leave = (): void => void (pointed.value = null);
  let first = 0;
  return (
    <div
      class="head-map" role="grid" ref={grid} style={{ "--columns": columns }}
      aria-labelledby="map-title" aria-describedby="map-help"
      onKeyDown={onKeyDown} onClick={on((at) => (choice.card.value = at))} onFocusIn={on(focus)}
      onPointerOver={on((at) => (pointed.value = at))} onPointerLeave={leave} onFocusOut={leave}
    >
      <div class="head-row" role="row">
        <span class="number" role="columnheader" aria-label={say(MEASURED, "layers", lang)} />
        {Array.from({ length: columns }, (_, head) => <span key={head} class="number" role="columnheader">{head}</span>)}
      </div>
      {n_heads.map((n, layer) => {
        const start = first;
        first += n;
        return (
          <div key={layer} class="head-row" role="row">
            <span class="number" role="rowheader">{say(MEASURED, "layer_short", lang, { layer })}</span>
            {Array.from({ length: n }, (_, head) => cell(choice, stop.peek(), start + head))}
          </div>
        );
      })}
    </div>
  );
}

function cell(choice: Choice, stop: number, at: number): JSX.Element {
  const { look, text } = looks(choice, at);
  return (
    <button
      key={at} type="button" role="gridcell" data-at={at} tabIndex={at === stop ? 0 : -1}
      class={look === null ? "bare" : ""} style={look ?? undefined}
      aria-selected={at === choice.card.peek()} aria-label={`${named(choice, at)}, ${text}`}
    >
      {text}
    </button>
  );
}

function cellAt(grid: RefObject<HTMLDivElement | null>, at: number): HTMLElement | null {
  return grid.current!.querySelector<HTMLElement>(`[data-at="${at}"]`);
}

/** An attribute that one cell has: when it goes to another, only those two are touched. */
function useMark(grid: RefObject<HTMLDivElement | null>, at: ReadonlySignal<number>, name: string, on: string, off: string): void {
  const last = useRef(at.peek());
  useSignalEffect(() => {
    cellAt(grid, last.current)?.setAttribute(name, off);
    cellAt(grid, at.value)?.setAttribute(name, on);
    last.current = at.value;
  });
}

interface Look {
  /** Null for the look of no evidence. `--way`, how far the head has come, becomes a bar. */
  readonly look: Readonly<Record<string, string>> | null;
  readonly text: string;
}

/** How a cell looks: by the role that names its head, or by how it does in the role that is chosen. */
function looks({ measured, lang: { value: lang }, role: { value: chosen } }: Choice, at: number): Look {
  const { cards, families, roles } = measured.told;
  const { way, score } = measured.columns;
  const { role, kind } = cards[at];
  if (chosen >= 0) {
    const row = measured.row(at, chosen);
    if (row < 0) return { look: null, text: "?" };
    const text = short(score[row]);
    if (measured.verdict(row) !== "evidence") return { look: null, text };
    const colour = weightColour(way[row]);
    return { look: { backgroundColor: css(colour), color: inkOn(colour) }, text };
  }
  if (role < 0) return { look: null, text: SIGNS[kind] };
  const { colour, ink } = families[roles[role].family];
  const come = `${100 * way[measured.row(at, role)]}%`;
  return { look: { backgroundColor: colour, color: ink, "--way": come }, text: inLanguage(roles[role].mark, lang) };
}

/** Two digits, as they fit into a cell: .91, 1, 14.2. */
function short(score: number): string {
  if (Math.abs(score) >= 9.95) return score.toFixed(0);
  return score >= 0.995 ? score.toFixed(1).replace(/\.0$/, "") : score.toFixed(2).replace(/^0/, "");
}

/** The marks that are on the map, and what they mean; then the looks of heads that no role names. */
function Legend({ measured: { told }, lang }: { measured: Measured; lang: Lang }): JSX.Element {
  const there = new Set(told.cards.map(({ role }) => role));
  const kinds = new Set(told.cards.map(({ kind }) => (kind === "unmeasured" ? "few" : kind)));
  return (
    <ul class="legend">
      {told.roles.map(({ name, mark, family, title }, at) => there.has(at) && (
        <li key={name}>
          <span class="sample" style={{ background: told.families[family].colour, color: told.families[family].ink }}>{inLanguage(mark, lang)}</span>
          {inLanguage(title, lang)}
        </li>
      ))}
      {(["trace", "none", "few"] as const).map((kind) => kinds.has(kind) && (
        <li key={kind}><span class="sample bare">{SIGNS[kind]}</span>{say(MEASURED, kind, lang)}</li>
      ))}
    </ul>
  );
}
