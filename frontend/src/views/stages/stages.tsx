/** The stage view: every number of one layer on one screen, from X to the output, and where each comes from. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useSignal, useSignalEffect } from "@preact/signals";
import { STAGE_PHRASES } from "../../explanation/explain";
import { number } from "../../explanation/words";
import type { Lang, Layer, Stage } from "../../engine/record";
import type { Session } from "../../state";
import { FRAME, say } from "../../words";
import { nameOf, TokenPicker } from "../tokens";
import { OriginPanel } from "./arithmetic";
import { Beside } from "./beside";
import { Scaling } from "./fields";
import { GridTable } from "./grid";
import { Mathy } from "./mathy";
import type { Editable } from "./hands";
import { Looking } from "./looking";
import { AxisMenu, type MenuOf } from "./menu";
import { symbolOf, SYMBOLS } from "./names";
import { gridsOf, isWindowed, MANY_DIMENSIONS, rowsOf, stopsOf, type Axis, type Grid, type Stop } from "./road";
import { Spoken } from "./spoken";
import css from "./stages.css";
import { Formula, StageText, titleOf, Walk, WholeExplanation } from "./walk";
import { KEYS, told } from "./words";

export function StageView({ session }: { session: Session }): JSX.Element {
  const looking = useMemo(() => new Looking(session), [session]);
  const view = useRef<HTMLDivElement>(null);
  useArrival(looking, view);
  useKeysOfPage(looking, view);
  useSignalEffect(() => {
    session.pointed.value = looking.hovered.value ?? looking.kept.value;
  });
  return (
    <div
      ref={view}
      class="stages"
      tabIndex={-1}
      onKeyDownCapture={(event) => paused(event, looking)}
      onKeyDown={(event) => walked(event, looking)}
      onPointerDown={(event) => paused(event, looking)}
    >
      <style>{css}</style>
      <Choosing looking={looking} />
      <div class="sign">
        <Formula looking={looking} />
      </div>
      <div class="columns">
        <Road looking={looking} />
        <Aside looking={looking} />
      </div>
      <div class="under">
        <WholeExplanation looking={looking} />
        <Keys lang={session.choice.lang.value} />
      </div>
    </div>
  );
}

function Aside({ looking }: { looking: Looking }): JSX.Element {
  return (
    <aside class={looking.kept.value === null ? "aside" : "aside keeping"}>
      <Walk looking={looking} />
      <StageText looking={looking} />
      <OriginPanel looking={looking} />
      <Spoken looking={looking} />
    </aside>
  );
}

/** Scroll to a stage when the walk comes to it; never because of a mouse. */
function useArrival(looking: Looking, view: { current: HTMLElement | null }): void {
  const arrived = looking.arrived.value;
  useEffect(() => {
    if (arrived === 0) return;
    const page = view.current!;
    const isCalm = page.ownerDocument.defaultView!.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = page.querySelector(`[data-stop="${looking.stop.peek()}"]`);
    step?.scrollIntoView({ block: "nearest", inline: "nearest", behavior: isCalm ? "instant" : "smooth" });
  }, [arrived]);
}

/** Before anything has the focus, the keys of a page that shows nothing else are the walk's. */
function useKeysOfPage(looking: Looking, view: { current: HTMLElement | null }): void {
  useEffect(() => {
    const page = view.current!.ownerDocument;
    if (view.current!.closest("#jumok-page") === null) return;
    const pressed = (event: KeyboardEvent): void => {
      if (event.target !== page.body) return;
      paused(event, looking);
      walked(event, looking);
    };
    page.addEventListener("keydown", pressed);
    return () => page.removeEventListener("keydown", pressed);
  }, [looking]);
}

/** [ and ] step, the space bar plays. */
function walked(event: KeyboardEvent, looking: Looking): void {
  if (isOn(event, "input, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  const by = { "]": 1, "[": -1 }[event.key] as 1 | -1 | undefined;
  const isPlay = event.key === " " && !isOn(event, "button, select, summary");
  if (by !== undefined || isPlay) event.preventDefault();
  if (isPlay) looking.playing.value = !looking.playing.peek();
  if (by !== undefined) looking.step(by);
}

/** Whoever does something else than to play wants to look. */
function paused(event: Event, looking: Looking): void {
  const isToPlay = isOn(event, ".play") || (event instanceof KeyboardEvent && event.key === " ");
  if (!isToPlay) looking.playing.value = false;
}

function isOn(event: Event, selector: string): boolean {
  return event.target instanceof Element && event.target.closest(selector) !== null;
}

// choosing -----------------------------------------------------------------------------------------

function Choosing({ looking }: { looking: Looking }): JSX.Element {
  const { session } = looking;
  const { choice } = session;
  const lang = choice.lang.value;
  const layer = session.layer.value!;
  const { weights } = rowsOf(layer, choice.head.value, choice.query.value);
  const choose = (chosen: { query?: number; key?: number }): void => {
    looking.release();
    session.choose(chosen);
  };
  const Picker = isWindowed(layer) ? TokenSelect : TokenPicker;
  return (
    <div class="choosing" role="group" aria-label={told("choices", lang)}>
      <Records session={session} layer={layer} lang={lang} />
      <div class="picker of-query">
        <span class="picker-label">{say(FRAME, "query", lang)}</span>
        <Picker
          tokens={layer.tokens}
          chosen={choice.query.value}
          label={say(FRAME, "query", lang)}
          choose={(query) => choose({ query })}
        />
      </div>
      <div class="picker of-key">
        <span class="picker-label">{say(FRAME, "key", lang)}</span>
        <Picker
          tokens={layer.keyTokens ?? layer.tokens}
          chosen={choice.key.value}
          label={say(FRAME, "key", lang)}
          choose={(key) => choose({ key })}
          below={(at) => number(weights[at])}
        />
      </div>
    </div>
  );
}

interface SelectProps {
  readonly tokens: Layer["tokens"];
  readonly chosen: number;
  readonly label: string;
  readonly choose: (at: number) => void;
  readonly below?: (at: number) => string;
}

/** For a long record: a list instead of a strip. */
function TokenSelect({ tokens, chosen, label, choose, below }: SelectProps): JSX.Element {
  const options = useMemo(() => {
    return tokens.map((token, at) => <option key={at} value={at}>{`${at}: ${nameOf(token)}`}</option>);
  }, [tokens]);
  return (
    <span class="field">
      <select aria-label={label} value={chosen} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {options}
      </select>
      {below && <span>{below(chosen)}</span>}
    </span>
  );
}

/** Which sentence, layer and head, where there are several. */
function Records({ session, layer, lang }: { session: Session; layer: Layer; lang: Lang }): JSX.Element | null {
  const { desks, desk, choice } = session;
  const sentences = desks.map(({ document: { title, source } }, at) => title?.[lang] || title?.en || source.name || String(at + 1));
  const layers = numbered("layer.n", desk.value.nLayers, lang);
  const heads = numbered("head.n", layer.q.heads, lang);
  const choosers = ([["document", sentences], ["layer", layers], ["head", heads]] as const).filter(([, names]) => names.length > 1);
  if (choosers.length === 0) return null;
  return (
    <div class="fields">
      {choosers.map(([what, names]) => (
        <label key={what} class="field">
          <span>{say(FRAME, what, lang)}</span>
          <select
            value={choice[what].value}
            onChange={(event) => session.choose({ [what]: Number(event.currentTarget.value) })}
          >
            {names.map((name, at) => <option key={at} value={at}>{name}</option>)}
          </select>
        </label>
      ))}
    </div>
  );
}

function numbered(word: string, n: number, lang: Lang): string[] {
  return Array.from({ length: n }, (_, at) => told(word, lang, { n: at }));
}

// the road -----------------------------------------------------------------------------------------

/** The tables in the order of the formula: make queries, keys and values; compare; mix. */
function Road({ looking }: { looking: Looking }): JSX.Element {
  const { choice, layer } = looking.session;
  const lang = choice.lang.value;
  const looked = {
    at: choice.layer.value, head: choice.head.value, query: choice.query.value, key: choice.key.value,
    allDimensions: looking.allDimensions.value,
  };
  const made = layer.value!;
  const grids = useMemo(() => gridsOf(made, looked), [made, ...Object.values(looked)]);
  const stops = stopsOf(made);
  const steps = (names: readonly Stop[]): JSX.Element[] => names
    .filter((stop) => stops.includes(stop))
    .map((stop) => <Step key={stop} looking={looking} stop={stop} n={stops.indexOf(stop) + 1} grids={grids} />);
  return (
    <div class="roads">
      <div class="road" role="region" aria-label={told("road", lang)}>
        <Notes looking={looking} grids={grids} />
        {stops.includes("x") ? (
          <div class={isNarrow(grids, ["x", "w_q", "q"]) ? "band making few" : "band making"}>
            {steps(["x"])}
            <div class="lanes">{steps(["q", "k", "v"])}</div>
          </div>
        ) : (
          <div class="band given">{steps(["q", "k", "v"])}</div>
        )}
        <div class="band">{steps(["scores", "scaled", "allowed", "weights"])}</div>
        <div class="band">{steps(["weighted_values", "mixed", "output"])}</div>
        {!stops.includes("v") && <p class="note">{told("no.values", lang)}</p>}
      </div>
    </div>
  );
}

/** Whether some tables are narrow enough to stand side by side on a wide screen. */
function isNarrow(grids: ReadonlyMap<Stage, Grid>, stages: readonly Stage[]): boolean {
  return stages.reduce((sum, stage) => sum + (grids.get(stage)?.columns.places.length ?? 0), 0) <= MOST_SIDE_BY_SIDE;
}

/** Columns of X, a matrix and what it makes. */
const MOST_SIDE_BY_SIDE = 12;
const BEFORE: Readonly<Partial<Record<Stop, Stage>>> = { q: "w_q", k: "w_k", v: "w_v", output: "w_o" };

interface StepProps {
  readonly looking: Looking;
  readonly stop: Stop;
  readonly n: number;
  readonly grids: ReadonlyMap<Stage, Grid>;
}

function Step({ looking, stop, n, grids }: StepProps): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const layer = looking.session.layer.value!;
  const isActive = looking.stop.value === stop;
  const matrix = BEFORE[stop] ? grids.get(BEFORE[stop]) : undefined;
  const query = layer.tokens[looking.session.choice.query.value];
  const tables = useRef<HTMLDivElement>(null);
  const isStacked = useStacked(tables, matrix !== undefined);
  return (
    <section
      class={isActive ? "step active" : "step"}
      data-stop={stop}
      data-n={n}
      aria-labelledby={`step-${stop}`}
      aria-current={isActive ? "step" : undefined}
    >
      <h2 id={`step-${stop}`}>
        <span class="step-number">{n}</span>{" "}
        {told(titleOf(layer, stop), lang)} <Mathy text={formulaOf(layer, stop, looking)} />
        {stop === "weighted_values" && <span class="quiet"> {told("of.query", lang, { query: nameOf(query) })}</span>}
      </h2>
      {stop === "scaled" && <Scaling looking={looking} />}
      <div ref={tables} class={isStacked ? "tables stacked" : "tables"}>
        {matrix && <Table looking={looking} grid={matrix} />}
        {matrix && <span class="becomes" aria-hidden="true" />}
        <Table looking={looking} grid={grids.get(stop)!} />
      </div>
      {stop === "x" && <Adding looking={looking} />}
      {stop === "weights" && <Nothing looking={looking} layer={layer} />}
    </section>
  );
}

/** Whether a matrix and what it makes have no room beside each other: then the one stands above the other. */
function useStacked(tables: { current: HTMLElement | null }, isPair: boolean): boolean {
  const isStacked = useSignal(false);
  useLayoutEffect(() => {
    if (!isPair) return;
    const own = tables.current!;
    const observer = new ResizeObserver(() => (isStacked.value = !hasRoom(own)));
    for (const one of [own.closest(".step")!.parentElement!, ...own.querySelectorAll("table")]) observer.observe(one);
    return () => observer.disconnect();
  }, [isPair]);
  return isPair && isStacked.value;
}

/** The arrow with the space around it, in pixels. */
const BETWEEN = 48;

function hasRoom(tables: HTMLElement): boolean {
  const step = tables.closest<HTMLElement>(".step")!;
  const edges = parseFloat(getComputedStyle(step).marginLeft) + step.offsetWidth - tables.clientWidth;
  const widths = Array.from(tables.querySelectorAll("table"), (table) => table.offsetWidth);
  return widths.reduce((sum, width) => sum + width, BETWEEN) <= step.parentElement!.clientWidth - edges;
}

/** How a stage is made, in letters. */
function formulaOf(layer: Layer, stop: Stop, { scaling }: Looking): string {
  if (!layer.x && (stop === "q" || stop === "k" || stop === "v")) return SYMBOLS[stop];
  if (stop === "output") return layer.heads?.w_o ? "heads · W_O" : "";
  if (stop === "scaled") return `${STAGE_PHRASES.scores[0]} ${symbolOf(stop, scaling.value)}`;
  return stop === "allowed" ? SYMBOLS[stop] : STAGE_PHRASES[stop][0];
}

function Table({ looking, grid }: { looking: Looking; grid: Grid }): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const { session } = looking;
  const sheet = session.desk.value.sheet.value;
  const hasMenus = sheet !== null && grid.stage === "x" && !isWindowed(session.layer.value!);
  const menus = { token: hasMenus, dimension: hasMenus && sheet.x.columns === grid.columns.n };
  const label = `${told(titleOf(session.layer.value!, grid.stage), lang)} ${symbolOf(grid.stage, looking.scaling.value)}`;
  return (
    <div class="table">
      <GridTable looking={looking} grid={grid} editable={editableOf(session, grid)} menus={menus} label={label} />
    </div>
  );
}

/** x of a later layer is made by the layer before; what is not a sheet is only looked at. */
function editableOf(session: Session, { stage, layer }: Grid): Editable {
  const sheet = session.desk.value.sheet.value;
  if (sheet === null || isWindowed(session.layer.value!)) return null;
  if (stage === "allowed") return "flag";
  if (stage === "x") return layer === 0 || sheet.layers[layer].x !== null ? "number" : null;
  return stage.startsWith("w_") ? "number" : null;
}

/** Buttons that add a token or a dimension at the end; the menus of the names do the rest. */
function Adding({ looking }: { looking: Looking }): JSX.Element | null {
  const { desk, layer, choice } = looking.session;
  const lang = choice.lang.value;
  const sheet = desk.value.sheet.value;
  const adding = useSignal<MenuOf | null>(null);
  const own = useRef<HTMLDivElement>(null);
  const close = (): void => {
    adding.value = null;
    own.current!.querySelector("button")!.focus();
  };
  if (sheet === null || isWindowed(layer.value!)) return null;
  const add = (kind: MenuOf["kind"], n: number): void => {
    if (kind === "dimension" && sheet.dimensions === null) desk.value.apply({ add: kind, at: n, text: "" });
    else adding.value = { kind, at: n - 1, naming: "after" };
  };
  return (
    <div ref={own} class="box adding choices">
      <button type="button" onClick={() => add("token", sheet.tokens.length)}>{told("add.token", lang)}</button>
      <button type="button" onClick={() => add("dimension", sheet.x.columns)}>{told("add.dimension", lang)}</button>
      {adding.value !== null && (
        <Beside class="menu" find={(box) => box}>
          <AxisMenu looking={looking} of={adding.value} lang={lang} close={close} />
        </Beside>
      )}
    </div>
  );
}

/** Rows in which nothing may be read. */
function Nothing({ looking, layer }: { looking: Looking; layer: Layer }): JSX.Element | null {
  const { head, lang } = looking.session.choice;
  if (isWindowed(layer)) return null;
  const barred = layer.tokens.filter((_, query) => !rowsOf(layer, head.value, query).allowed.includes(1));
  if (barred.length === 0) return null;
  return <p class="note">{barred.map((token) => told("nothing.allowed", lang.value, { token: nameOf(token) })).join(" ")}</p>;
}

/** The dimensions of q, where they are many; else those of the widest table. */
function widestOf(grids: ReadonlyMap<Stage, Grid>): Axis {
  const q = grids.get("q")!.columns;
  if (q.n > MANY_DIMENSIONS) return q;
  const axes = [...grids.values()].flatMap(({ rows, columns }) => [rows, columns]);
  return axes.filter(({ kind }) => kind === "dimension").reduce((most, one) => (one.n > most.n ? one : most), q);
}

/** What of the record is shown, and why it cannot be edited where it cannot. */
function Notes({ looking, grids }: { looking: Looking; grids: ReadonlyMap<Stage, Grid> }): JSX.Element {
  const { desk, layer, choice } = looking.session;
  const lang = choice.lang.value;
  const made = layer.value!;
  const sheet = desk.value.sheet.value;
  const scores = grids.get("scores")!;
  const widest = widestOf(grids);
  const all = looking.allDimensions;
  const isMade = sheet !== null && choice.layer.value > 0 && sheet.layers[choice.layer.value].x === null;
  const why = isWindowed(made) || made.x ? "not.editable.large" : "not.editable.parts";
  return (
    <>
      {scores.columns.places.length < scores.columns.n && (
        <p class="note">{told("window.tokens", lang, { shown: scores.columns.places.length, n: scores.columns.n })}</p>
      )}
      {widest.n > MANY_DIMENSIONS && (
        <p class="note">
          {!all.value && told("window.dimensions", lang, { shown: widest.places.length, n: widest.n })}{" "}
          <button type="button" onClick={() => (all.value = !all.value)}>
            {told(all.value ? "window.some" : "window.all", lang)}
          </button>
        </p>
      )}
      {(sheet === null || isWindowed(made)) && <p class="note">{told("not.editable", lang, { reason: told(why, lang) })}</p>}
      {isMade && <p class="note">{told("layer.made", lang)}</p>}
    </>
  );
}

function Keys({ lang }: { lang: Lang }): JSX.Element {
  return (
    <details class="keys">
      <summary>{told("edit.keys", lang)}</summary>
      <dl>
        {KEYS.map((key) => (
          <div key={key}>
            <dt><kbd>{told(`key.${key}`, lang)}</kbd></dt>
            <dd>{told(`does.${key}`, lang)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
