/** Two documents beside each other: the same head in both, and what changed from one to the other. */
import type { JSX } from "preact";
import { useComputed, useSignal, type Signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Lang, Layer } from "../../engine/record";
import { number, quoted } from "../../explanation/words";
import { css as colour, differenceColour } from "../../look/colours";
import type { Pair } from "../../hosts/model";
import type { Session } from "../../state";
import { FRAME, say } from "../../words";
import mapCss from "../map/map.css";
import { topOf, type Picture } from "../map/paint";
import { HeadPicker } from "../map/pick";
import { Scale } from "../map/scale";
import { withoutFirst } from "../map/seen";
import { inSlices } from "../map/slices";
import { placeByKey, placeUnder, Surface } from "../map/surface";
import { titleOf } from "../map/titles";
import { wholeOf, type Place } from "../map/window";
import { nameOf, TokenText } from "../tokens";
import { common, keyPairsOf, rowsOf, slotsOf, type Both, type Slot } from "./aligned";
import { Changes, isAsItCame, signed } from "./changes";
import css from "./compare.css";
import { Difference, keyTokenOf, tokenOf, type DifferenceGiven } from "./difference";
import { COMPARE } from "./words";

/** Texts this long are not aligned here. */
const MOST_ALIGNED = 4_000_000;
const MOST_IN_STRIP = 200;
const MOST_CELL = 56;
/** Rounding alone changes as much. */
const NOTHING = 5e-7;
const COLOURS = [-1, -0.5, 0, 0.5, 1].map((share) => colour(differenceColour(share)));
const GRADIENT = `linear-gradient(to right, ${COLOURS.join(", ")})`;

export function CompareView({ session }: { session: Session }): JSX.Element {
  const { layer: at, head, lang } = session.choice;
  const pairs = useComputed(() => pairsOf(session)).value;
  const [a, b] = [0, 1].map((which) => layerOf(session, which, at.value));
  const body = (): JSX.Element => {
    if (session.desks.length < 2 || pairs === null) return <p>{say(COMPARE, "needs_two", lang.value)}</p>;
    const hasHead = a !== undefined && b !== undefined && head.value < (b?.q.heads ?? Infinity);
    if (!hasHead) return <p>{say(COMPARE, "no_head", lang.value)}</p>;
    if (a === null || b === null) return <p role="status">{say(FRAME, "coming", lang.value)}</p>;
    return <Beside session={session} a={a} b={b} pairs={pairs} />;
  };
  return (
    <div class="compare-view">
      <style>{mapCss + css}</style>
      <HeadPicker session={session} document={false} />
      {body()}
    </div>
  );
}

/** null: on its way; undefined: there is none. */
function layerOf(session: Session, which: number, at: number): Layer | null | undefined {
  const desk = session.desks[which];
  if (desk === undefined || at >= desk.nLayers) return undefined;
  const layer = desk.layer(at);
  return layer !== null && session.firstHidden.value ? withoutFirst(layer) : layer;
}

/** As they were given, or, after an edit or where none were, by the texts. */
function pairsOf(session: Session): readonly Pair[] | null {
  if (session.desks.length < 2) return null;
  if (session.pairing !== null && isAsItCame(session)) return session.pairing.pairs;
  const [a, b] = session.desks.map((desk) => desk.made.value?.[0].tokens ?? desk.document.tokens(0));
  return a.length * b.length > MOST_ALIGNED ? null : common(a, b);
}

interface BesideGiven {
  readonly session: Session;
  readonly a: Layer;
  readonly b: Layer;
  readonly pairs: readonly Pair[];
}

function Beside({ session, a, b, pairs }: BesideGiven): JSX.Element {
  const lang = session.choice.lang.value;
  const head = session.choice.head.value;
  const keys = useMemo(() => keyPairsOf(a, b, pairs), [a, b, pairs]);
  const rows = useMemo(() => slotsOf(pairs, a.q.rows, b.q.rows), [a, b, pairs]);
  const columns = useMemo(() => slotsOf(keys, a.k.rows, b.k.rows), [a, b, keys]);
  const both: Both = { a, b, head, keys };
  const { spot, choose, chooseIn } = useSpot(session, rows, columns);
  const sharedOut = useSignal(true);
  const largest = useSignal<number[]>([0, 0]);
  const tell = (at: Place): string => told(both, rows[at.query], columns[at.key], sharedOut.value, lang);
  return (
    <>
      <Aligned
        both={both}
        slots={rows}
        chosen={spot.query}
        choose={(row) => choose({ ...spot, query: row })}
        lang={lang}
      />
      <p id="compare-help" class="visually-hidden">
        {say(COMPARE, "help", lang)}
      </p>
      <p role="status" class="told-change">
        {tell(spot)}
      </p>
      <div class="three">
        {[a, b].map((layer, which) => (
          <One
            key={which} session={session} which={which} layer={layer}
            chosen={placeIn(which, rows[spot.query], columns[spot.key])}
            choose={(place) => chooseIn(which, place)}
            painted={({ image }) => (largest.value = largest.value.with(which, topOf(image.values)))}
          />
        ))}
        <Changed
          session={session}
          pairs={pairs}
          sharedOut={sharedOut}
          given={{ both, rows, columns, spot, choose, tell }}
        />
      </div>
      <Scale session={session} top={Math.max(...largest.value)} />
      <Changes session={session} pairs={pairs} go={(query, key) => chooseIn(0, { query: query[0], key: key[0] })} />
    </>
  );
}

interface ChangedGiven {
  readonly session: Session;
  readonly pairs: readonly Pair[];
  readonly sharedOut: Signal<boolean>;
  readonly given: Pick<DifferenceGiven, "both" | "rows" | "columns" | "spot" | "choose" | "tell">;
}

/** The difference, and what has to be known to read it. */
function Changed({ session, pairs, sharedOut, given }: ChangedGiven): JSX.Element {
  const lang = session.choice.lang.value;
  const top = useSignal<number | null>(null);
  const names = { layer: session.choice.layer.value, head: given.both.head };
  const isSame = sharedOut.value && top.value !== null && top.value < NOTHING;
  return (
    <section class="changed">
      <h2>{say(COMPARE, "difference", lang)}</h2>
      <Difference
        {...given}
        sharedOut={sharedOut.value}
        name={say(COMPARE, "difference_name", lang, names)}
        describedBy="compare-help"
        top={(largest) => (top.value = largest)}
      />
      <DifferenceLegend top={top.value} lang={lang} />
      <label class="check">
        <input
          type="checkbox"
          checked={sharedOut.value}
          onChange={(event) => (sharedOut.value = event.currentTarget.checked)}
        />
        {say(COMPARE, "shared_out", lang)}
      </label>
      <p class="quiet">{say(COMPARE, sharedOut.value ? "shared_note" : "own_note", lang)}</p>
      {isSame && <p>{say(COMPARE, "no_change", lang)}</p>}
      <Unmatched both={given.both} pairs={pairs} lang={lang} />
    </section>
  );
}

/** The chosen place of the common axis; the session knows it by the first text, where that has it. */
function useSpot(session: Session, rows: readonly Slot[], columns: readonly Slot[]) {
  const { query, key } = session.choice;
  const only = useSignal<Place | null>(null);
  const at = (slots: readonly Slot[], side: "a" | "b", place: number): number =>
    Math.max(0, slots.findIndex((slot) => slot[side] === place));
  const own = { query: at(rows, "a", query.value), key: at(columns, "a", key.value) };
  const kept = only.value;
  const spot = kept !== null && kept.query < rows.length && kept.key < columns.length ? kept : own;
  const choose = (next: Place): void => {
    const place = placeIn(0, rows[next.query], columns[next.key]);
    only.value = place.query < 0 || place.key < 0 ? next : null;
    session.choose({ ...(place.query >= 0 && { query: place.query }), ...(place.key >= 0 && { key: place.key }) });
  };
  const chooseIn = (which: number, place: Place): void => {
    const side = which === 0 ? "a" : "b";
    choose({ query: at(rows, side, place.query), key: at(columns, side, place.key) });
  };
  return { spot, choose, chooseIn };
}

/** Where a place of the axis is in one of the texts; −1 where it is only in the other. */
function placeIn(which: number, row: Slot, column: Slot): Place {
  const side = which === 0 ? "a" : "b";
  return { query: row[side] ?? -1, key: column[side] ?? -1 };
}

/** "'it' → cat: 0.71 before, 0.20 after, −0.51" */
function told(both: Both, row: Slot, column: Slot, sharedOut: boolean, lang: Lang): string {
  const names = { asks: quoted(nameOf(tokenOf(both, row)), lang), read: quoted(nameOf(keyTokenOf(both, column)), lang) };
  const lone = [row, column].find(({ a, b }) => a === null || b === null);
  if (lone) {
    const why = say(COMPARE, lone.b === null ? "only_first" : "only_second", lang);
    return say(COMPARE, "hatched", lang, { ...names, why });
  }
  const found = rowsOf(both, [row.a!, row.b!], sharedOut);
  const at = both.keys.findIndex((pair) => pair[0] === column.a);
  const [before, after] = [found.a[at], found.b[at]];
  return say(COMPARE, "cell", lang, { ...names, a: number(before), b: number(after), change: signed(after - before) });
}

interface AlignedGiven {
  readonly both: Both;
  readonly slots: readonly Slot[];
  readonly chosen: number;
  readonly choose: (row: number) => void;
  readonly lang: Lang;
}

/** Both texts in one strip: what both have once, what only one has above or below. */
function Aligned({ both, slots, chosen, choose, lang }: AlignedGiven): JSX.Element | null {
  if (slots.length > MOST_IN_STRIP) return null;
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const [after, before, last] = [chosen + 1, chosen - 1, slots.length - 1];
    const moves: Record<string, number> = { ArrowRight: after, ArrowLeft: before, Home: 0, End: last };
    const to = moves[event.key];
    if (slots[to] === undefined) return;
    event.preventDefault();
    choose(to);
    (event.currentTarget.children[to] as HTMLElement).focus();
  };
  const where = ({ a, b }: Slot): string => (b === null ? "only_first" : a === null ? "only_second" : "same_token");
  return (
    <div class="aligned" role="radiogroup" aria-label={say(COMPARE, "aligned", lang)} onKeyDown={onKeyDown}>
      {slots.map((slot, at) => (
        <button
          key={at}
          type="button"
          role="radio"
          class={where(slot)}
          aria-checked={at === chosen}
          aria-label={`${nameOf(tokenOf(both, slot))}, ${say(COMPARE, where(slot), lang)}`}
          tabIndex={at === chosen ? 0 : -1}
          onClick={() => choose(at)}
        >
          <TokenText token={tokenOf(both, slot)} />
        </button>
      ))}
    </div>
  );
}

interface OneGiven {
  readonly session: Session;
  readonly which: number;
  readonly layer: Layer;
  readonly chosen: Place;
  readonly choose: (place: Place) => void;
  readonly painted: (picture: Picture) => void;
}

function One({ session, which, layer, chosen, choose, painted }: OneGiven): JSX.Element {
  const lang = session.choice.lang.value;
  const head = session.choice.head.value;
  const letter = say(COMPARE, which === 0 ? "first" : "second", lang);
  const window = wholeOf(layer);
  const onKeyDown = (event: KeyboardEvent): void => {
    const from = { query: Math.max(0, chosen.query), key: Math.max(0, chosen.key) };
    const place = placeByKey(event, from, layer.q.rows, layer.k.rows);
    if (place === null) return;
    event.preventDefault();
    choose(place);
  };
  return (
    <section>
      <h2>
        {letter} <span class="quiet sentence">{titleOf(session.desks[which].document, lang)}</span>
      </h2>
      <Surface
        layer={layer}
        head={head}
        window={window}
        mapping={session.mapping.value}
        chosen={chosen}
        name={say(COMPARE, "map_name", lang, { which: letter, layer: session.choice.layer.value, head })}
        describedBy="compare-help"
        mostCell={MOST_CELL}
        point={() => undefined}
        painted={painted}
        on={{ onKeyDown, onClick: (event) => choose(placeUnder(event, window)) }}
      />
    </section>
  );
}

function DifferenceLegend({ top, lang }: { top: number | null; lang: Lang }): JSX.Element {
  return (
    <div class="legend">
      <div class="legend-bar" style={{ background: GRADIENT }} aria-hidden="true" />
      <p class="quiet">{say(COMPARE, "legend", lang, { top: top === null ? "…" : number(top) })}</p>
    </div>
  );
}

/** What the comparison leaves out of sight, said with its size. */
function Unmatched({ both, pairs, lang }: { both: Both; pairs: readonly Pair[]; lang: Lang }): JSX.Element {
  const means = useSignal<readonly [string, string]>(["…", "…"]);
  useEffect(() => {
    const sums: [number, number] = [0, 0];
    let done = 0;
    const step = (): boolean => {
      if (done === pairs.length) return false;
      const [inA, inB] = rowsOf(both, pairs[done++], false).unmatched;
      [sums[0], sums[1]] = [sums[0] + inA, sums[1] + inB];
      return true;
    };
    const mean = (sum: number): string => number(sum / Math.max(1, pairs.length));
    return inSlices(step, (goesOn) => goesOn || (means.value = [mean(sums[0]), mean(sums[1])]));
  }, [both.a, both.b, both.head, pairs]);
  const [a, b] = means.value;
  return <p class="quiet">{say(COMPARE, "unmatched", lang, { a, b })}</p>;
}
