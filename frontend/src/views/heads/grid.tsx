/** All heads as thumbnails: one tab stop, every head by arrows, sorted and filtered by what is known of it. */
import type { ComponentChildren, JSX } from "preact";
import { useComputed, useSignal, type Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Lang } from "../../engine/record";
import { number, percent } from "../../explanation/words";
import type { Session } from "../../state";
import { say } from "../../words";
import { factsOf, MEASURES, ordered, ORDERS, type HeadFacts, type Measure, type Order } from "./facts";
import { moved } from "./moved";
import { useThumbnails } from "./thumbnails";
import { HEADS } from "./words";

interface Filter {
  readonly measure: Measure | null;
  readonly least: number;
}

/** `children` stand under what is told of a head. */
export function HeadGrid({ session, children }: { session: Session; children: ComponentChildren }): JSX.Element {
  const lang = session.choice.lang.value;
  const order = useSignal<Order>("place");
  const filter = useSignal<Filter>({ measure: null, least: 0 });
  const told = useSignal<HeadFacts | null>(null);
  const heads = useComputed(() => ordered(factsOf(session.desk.value), order.value)).value;
  const { measure, least } = filter.value;
  const matches = (one: HeadFacts): boolean => measure === null || one[measure] >= least;
  const { rows } = session.desk.value.document.facts[0];
  const now = told.value ?? heads.find((one) => isChosen(session, one)) ?? heads[0];
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">{say(HEADS, order.value === "place" ? "all_heads" : "in_order", lang)}</h2>
      <Ordering heads={heads} order={order} filter={filter} matching={heads.filter(matches).length} lang={lang} />
      <p id="grid-help" class="visually-hidden">
        {say(HEADS, "grid_help", lang)}
      </p>
      <Cells
        session={session}
        heads={heads}
        byPlace={order.value === "place"}
        matches={matches}
        tell={(one) => (told.value = one)}
      />
      <p class="head-told">{facts(now, session)}</p>
      {children}
      <p class="quiet">
        {say(HEADS, "thumbnails", lang)}
        {rows !== undefined && ` ${say(HEADS, "some_rows", lang, { rows })}`}
      </p>
    </section>
  );
}

/** "Layer 3, head 5: mean entropy 1.2, first token 41.0%, previous token 3.1%" */
function facts({ layer: at, head, entropy, first, previous }: HeadFacts, { desk, choice }: Session): string {
  const [lang, layer] = [choice.lang.value, desk.value.number(at)];
  if (Number.isNaN(entropy)) return say(HEADS, "head", lang, { layer, head });
  const said = { entropy: number(entropy), first: percent(first), previous: percent(previous) };
  return say(HEADS, "named", lang, { layer, head, ...said });
}

function isChosen({ choice }: Session, { layer, head }: HeadFacts): boolean {
  return layer === choice.layer.value && head === choice.head.value;
}

interface OrderingGiven {
  readonly heads: readonly HeadFacts[];
  readonly order: Signal<Order>;
  readonly filter: Signal<Filter>;
  readonly matching: number;
  readonly lang: Lang;
}

function Ordering({ heads, order, filter, matching, lang }: OrderingGiven): JSX.Element | null {
  if (heads.some(({ entropy }) => Number.isNaN(entropy)) || heads.length < 2) return null;
  const { measure } = filter.value;
  const filtered = (to: string): void => {
    const chosen = to === "" ? null : (to as Measure);
    filter.value = { measure: chosen, least: chosen === null ? 0 : Math.min(...heads.map((one) => one[chosen])) };
  };
  return (
    <div class="ordering">
      <label>
        {say(HEADS, "order", lang)}{" "}
        <select value={order.value} onChange={(event) => (order.value = event.currentTarget.value as Order)}>
          {ORDERS.map((one) => (
            <option key={one} value={one}>
              {say(HEADS, one === "place" ? "by_place" : one, lang)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {say(HEADS, "filter", lang)}{" "}
        <select value={measure ?? ""} onChange={(event) => filtered(event.currentTarget.value)}>
          <option value="">{say(HEADS, "no_filter", lang)}</option>
          {MEASURES.map((one) => (
            <option key={one} value={one}>
              {say(HEADS, one, lang)}
            </option>
          ))}
        </select>
      </label>
      {measure !== null && <Least heads={heads} measure={measure} filter={filter} matching={matching} lang={lang} />}
    </div>
  );
}

type LeastGiven = Omit<OrderingGiven, "order"> & { readonly measure: Measure };

function Least({ heads, measure, filter, matching, lang }: LeastGiven): JSX.Element {
  const values = heads.map((one) => one[measure]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const { least } = filter.value;
  return (
    <label>
      {say(HEADS, "at_least", lang, { value: number(least) })}{" "}
      <input
        type="range"
        min={low}
        max={high}
        step={(high - low) / 200 || 1}
        value={least}
        onInput={(event) => (filter.value = { measure, least: Number(event.currentTarget.value) })}
      />
      <output>{say(HEADS, "matching", lang, { n: matching, all: heads.length })}</output>
    </label>
  );
}

interface CellsGiven {
  readonly session: Session;
  readonly heads: readonly HeadFacts[];
  readonly byPlace: boolean;
  readonly matches: (one: HeadFacts) => boolean;
  readonly tell: (one: HeadFacts | null) => void;
}

function Cells({ session, heads, byPlace, matches, tell }: CellsGiven): JSX.Element {
  const lang = session.choice.lang.value;
  const canvas = useRef<HTMLCanvasElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const columns = Math.max(...session.desk.value.document.facts.map(({ n_heads }) => n_heads));
  const rows = rowsOf(heads, byPlace, columns);
  const focused = useSignal<number | null>(null);
  const stop = focused.value ?? Math.max(0, heads.findIndex((one) => isChosen(session, one)));
  useThumbnails(canvas, session.desk.value, heads, columns);
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = moved(event, stop, rows.map((row) => row.length));
    if (to === null) return;
    event.preventDefault();
    grid.current!.querySelector<HTMLElement>(`[data-at="${to}"]`)!.focus();
  };
  const focus = (one: HeadFacts, at: number): void => {
    focused.value = at;
    tell(one);
  };
  const cell = { session, byPlace, matches, tell, focus };
  return (
    <div
      class={`head-grid${rows.length > 16 ? " many" : ""}`} role="grid" ref={grid} style={{ "--columns": columns }}
      aria-labelledby="all-heads-title" aria-describedby="grid-help"
      onKeyDown={onKeyDown} onPointerLeave={() => tell(null)} onFocusOut={() => tell(null)}
    >
      {byPlace && <ColumnNumbers columns={columns} lang={lang} />}
      <div class="thumbs" role="presentation">
        <canvas ref={canvas} aria-hidden="true" />
        {rows.map((row, down) => (
          <div key={down} class="head-row" role="row">
            <span class="number" role="rowheader">
              {byPlace ? say(HEADS, "layer_short", lang, { layer: session.desk.value.number(row[0].one.layer) }) : `${row[0].at + 1}–`}
            </span>
            {row.map(({ one, at }) => <HeadCell key={at} {...cell} one={one} at={at} isStop={at === stop} />)}
          </div>
        ))}
      </div>
    </div>
  );
}

interface HeadCellGiven extends Omit<CellsGiven, "heads"> {
  readonly one: HeadFacts;
  readonly at: number;
  readonly isStop: boolean;
  readonly focus: (one: HeadFacts, at: number) => void;
}

/** Clear, so that the thumbnail under it is seen. */
function HeadCell({ session, byPlace, matches, tell, focus, one, at, isStop }: HeadCellGiven): JSX.Element {
  const lang = session.choice.lang.value;
  const { layer, head } = one;
  const name = facts(one, session);
  const isIn = matches(one);
  return (
    <button
      type="button"
      role="gridcell"
      class={isIn ? "" : "filtered"}
      data-at={at}
      tabIndex={isStop ? 0 : -1}
      aria-selected={isChosen(session, one)}
      aria-label={isIn ? name : say(HEADS, "left_out", lang, { name })}
      onClick={() => session.choose({ layer, head })}
      onFocus={() => focus(one, at)}
      onPointerEnter={() => tell(one)}
    >
      {!byPlace && <span class="where">{say(HEADS, "place_short", lang, { layer: session.desk.value.number(layer), head })}</span>}
    </button>
  );
}

function ColumnNumbers({ columns, lang }: { columns: number; lang: Lang }): JSX.Element {
  return (
    <div class="head-row numbers" role="row">
      <span class="number" role="columnheader" aria-label={say(HEADS, "layers", lang)} />
      {Array.from({ length: columns }, (_, head) => (
        <span key={head} class="number" role="columnheader">
          {say(HEADS, "head_short", lang, { head })}
        </span>
      ))}
    </div>
  );
}

type Row = readonly { readonly one: HeadFacts; readonly at: number }[];

/** By place a row is a layer; in another order the heads simply go on. */
function rowsOf(heads: readonly HeadFacts[], byPlace: boolean, columns: number): Row[] {
  const rows: { one: HeadFacts; at: number }[][] = [];
  heads.forEach((one, at) => {
    const row = byPlace ? one.layer : Math.floor(at / columns);
    (rows[row] ??= []).push({ one, at });
  });
  return rows;
}
