/** The stage view: every number of one layer on one screen, from X to the output, and where each comes from. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { STAGE_PHRASES } from "../../explanation/explain";
import { number } from "../../explanation/words";
import type { Lang, Layer, Stage } from "../../engine/record";
import type { Session } from "../../state";
import { FRAME, say } from "../../words";
import { CutPanel } from "../cuts/cuts";
import { DesignPanel } from "../design/panel";
import { nameOf, TokenPicker } from "../tokens";
import { OriginPanel } from "./arithmetic";
import { Beside } from "./beside";
import { Scaling } from "./fields";
import { GridTable } from "./grid";
import { Mathy } from "./mathy";
import type { Editable, Menus } from "./hands";
import { Looking } from "./looking";
import { AxisMenu, type MenuOf } from "./menu";
import { symbolOf, SYMBOLS } from "./names";
import { MANY_DIMENSIONS, rowsOf, type Axis, type Grid, type Stop } from "./road";
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
  const { isFolded, choice } = looking.session;
  return (
    <aside class={looking.kept.value === null ? "aside" : "aside keeping"}>
      <div class="aside-top">
        <Walk looking={looking} />
        <button
          type="button"
          class="fold"
          aria-expanded={!isFolded.value}
          aria-controls="aside-told"
          onClick={() => (isFolded.value = !isFolded.value)}
        >
          {told("fold", choice.lang.value)} <span aria-hidden="true">{isFolded.value ? "▴" : "▾"}</span>
        </button>
      </div>
      <div id="aside-told" class={isFolded.value ? "aside-told folded" : "aside-told"} tabIndex={0} role="group" aria-label={told("fold", choice.lang.value)}>
        <StageText looking={looking} />
        <OriginPanel looking={looking} />
      </div>
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
  const lang = looking.session.choice.lang.value;
  return (
    <div class="choosing" role="group" aria-label={told("choices", lang)}>
      <Records session={looking.session} lang={lang} />
      <Chooser looking={looking} side="query" />
      <Chooser looking={looking} side="key" />
    </div>
  );
}

/** The tokens of one side; under each key the weight that the chosen query gives it. */
function Chooser({ looking, side }: { looking: Looking; side: "query" | "key" }): JSX.Element {
  const { session } = looking;
  const { choice, layer } = session;
  const label = say(FRAME, side, choice.lang.value);
  const tokens = useComputed(() => (side === "key" && layer.value!.keyTokens) || layer.value!.tokens).value;
  const weights = side === "key" ? rowsOf(layer.value!, choice.head.value, choice.query.value).weights : null;
  const choose = (at: number): void => {
    looking.release();
    session.choose({ [side]: at });
  };
  const Picker = looking.isLarge.value ? TokenSelect : TokenPicker;
  return (
    <div class={`picker of-${side}`}>
      <span class="picker-label">{label}</span>
      <Picker
        tokens={tokens}
        chosen={choice[side].value}
        label={label}
        choose={choose}
        below={weights === null ? undefined : (at) => number(weights[at])}
      />
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
function Records({ session, lang }: { session: Session; lang: Lang }): JSX.Element | null {
  const { desks, desk, choice } = session;
  const nHeads = useComputed(() => session.layer.value!.q.heads).value;
  const sentences = desks.map(({ document: { title, source } }, at) => title?.[lang] || title?.en || source.name || String(at + 1));
  const layers = numbered("layer.n", desk.value.nLayers, lang, (at) => desk.value.number(at));
  const heads = numbered("head.n", nHeads, lang);
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

function numbered(word: string, n: number, lang: Lang, name = (at: number) => at): string[] {
  return Array.from({ length: n }, (_, at) => told(word, lang, { n: name(at) }));
}

// the road -----------------------------------------------------------------------------------------

/** The tables in the order of the formula: make queries, keys and values; compare; mix. */
function Road({ looking }: { looking: Looking }): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const stops = looking.stops.value;
  const isFew = useComputed(() => isNarrow(looking.grids.value, ["x", "w_q", "q"])).value;
  const steps = (names: readonly Stop[]): JSX.Element[] => names
    .filter((stop) => stops.includes(stop))
    .map((stop) => <Step key={stop} looking={looking} stop={stop} n={stops.indexOf(stop) + 1} />);
  return (
    <div class="roads">
      <div class="road" role="region" aria-label={told("road", lang)}>
        <Notes looking={looking} />
        {stops.includes("x") ? (
          <div class={isFew ? "band making few" : "band making"}>
            {steps(["x"])}
            <div class="lanes">{steps(["q", "k", "v"])}</div>
          </div>
        ) : (
          <div class="band given">{steps(["q", "k", "v"])}</div>
        )}
        <div class="band">{steps(["scores", "scaled", "allowed", "weights"])}</div>
        <DesignPanel looking={looking} />
        <CutPanel session={looking.session} />
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
}

function Step({ looking, stop, n }: StepProps): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const isActive = looking.stop.value === stop;
  const matrix = looking.stages.value.find((stage) => stage === BEFORE[stop]);
  const formula = useComputed(() => formulaOf(looking, stop)).value;
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
        {told(titleOf(looking.stops.value, stop), lang)} <Mathy text={formula} />
        {stop === "weighted_values" && (
          <span class="quiet"> {told("of.query", lang, { query: looking.asking.value })}</span>
        )}
      </h2>
      {stop === "scaled" && <Scaling looking={looking} />}
      <div ref={tables} class={isStacked ? "tables stacked" : "tables"}>
        {matrix && <Table looking={looking} stage={matrix} />}
        {matrix && <span class="becomes" aria-hidden="true" />}
        <Table looking={looking} stage={stop} />
      </div>
      {stop === "x" && <Adding looking={looking} />}
      {stop === "weights" && <Nothing looking={looking} />}
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
function formulaOf({ session, scaling }: Looking, stop: Stop): string {
  const layer = session.layer.value!;
  if (!layer.x && (stop === "q" || stop === "k" || stop === "v")) return SYMBOLS[stop];
  if (stop === "output") return layer.heads?.w_o ? "heads · W_O" : "";
  if (stop === "scaled") return `${STAGE_PHRASES.scores[0]} ${symbolOf(stop, scaling.value)}`;
  return stop === "allowed" ? SYMBOLS[stop] : STAGE_PHRASES[stop][0];
}

function Table({ looking, stage }: { looking: Looking; stage: Stage }): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const grid = useComputed(() => looking.grids.value.get(stage)!).value;
  const editable = useComputed(() => editableOf(looking, stage)).value;
  const menus = useComputed(() => menusOf(looking, stage)).value;
  const label = `${told(titleOf(looking.stops.value, stage), lang)} ${symbolOf(stage, looking.scaling.value)}`;
  return (
    <div class="table">
      <GridTable looking={looking} grid={grid} editable={editable} menus={menus} label={label} />
    </div>
  );
}

/** x of a later layer is made by the layer before; what is not a sheet is only looked at. */
function editableOf({ session, isEditable }: Looking, stage: Stage): Editable {
  const sheet = session.desk.value.sheet.value;
  const layer = session.choice.layer.value;
  if (sheet === null || !isEditable.value) return null;
  if (stage === "allowed") return "flag";
  if (stage === "x") return layer === 0 || sheet.layers[layer].x !== null ? "number" : null;
  return stage.startsWith("w_") ? "number" : null;
}

/** The dimensions of a sheet are those of the first layer, and of a later one that is as wide. */
function menusOf({ session, isEditable }: Looking, stage: Stage): Menus {
  if (stage !== "x" || !isEditable.value) return "none";
  return session.desk.value.sheet.value!.x.columns === session.layer.value!.x!.columns ? "all" : "tokens";
}

/** Buttons that add a token or a dimension at the end; the menus of the names do the rest. */
function Adding({ looking }: { looking: Looking }): JSX.Element | null {
  const { desk, choice } = looking.session;
  const lang = choice.lang.value;
  const adding = useSignal<MenuOf | null>(null);
  const own = useRef<HTMLDivElement>(null);
  const close = (): void => {
    adding.value = null;
    own.current!.querySelector("button")!.focus();
  };
  if (!looking.isEditable.value) return null;
  const add = (kind: MenuOf["kind"]): void => {
    const sheet = desk.peek().sheet.peek()!;
    const n = kind === "token" ? sheet.tokens.length : sheet.x.columns;
    if (kind === "dimension" && sheet.dimensions === null) desk.peek().apply({ add: kind, at: n, text: "" });
    else adding.value = { kind, at: n - 1, naming: "after" };
  };
  return (
    <div ref={own} class="box adding choices">
      <button type="button" onClick={() => add("token")}>{told("add.token", lang)}</button>
      <button type="button" onClick={() => add("dimension")}>{told("add.dimension", lang)}</button>
      {adding.value !== null && (
        <Beside class="menu" find={(box) => box}>
          <AxisMenu looking={looking} of={adding.value} lang={lang} close={close} />
        </Beside>
      )}
    </div>
  );
}

/** Rows in which nothing may be read. */
function Nothing({ looking: { session, isLarge } }: { looking: Looking }): JSX.Element | null {
  const { head, lang } = session.choice;
  const layer = session.layer.value!;
  if (isLarge.value) return null;
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
function Notes({ looking }: { looking: Looking }): JSX.Element {
  const { desk, layer, choice } = looking.session;
  const lang = choice.lang.value;
  const made = layer.value!;
  const sheet = desk.value.sheet.value;
  const scores = looking.grids.value.get("scores")!;
  const widest = widestOf(looking.grids.value);
  const all = looking.allDimensions;
  const isMade = sheet !== null && choice.layer.value > 0 && sheet.layers[choice.layer.value].x === null;
  const isLarge = looking.isLarge.value || (made.x && made.heads);
  const why = desk.value.moving ? "not.editable.moves" : isLarge ? "not.editable.large" : "not.editable.parts";
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
      {!looking.isEditable.value && <p class="note">{told("not.editable", lang, { reason: told(why, lang) })}</p>}
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
