/** A long context: from the whole map to single cells, and never all of its weights at once. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Window } from "../../engine/map";
import type { Layer } from "../../engine/record";
import type { Session } from "../../state";
import { say } from "../../words";
import { CutPanel } from "../cuts/cuts";
import { TopKeys } from "../heads/topkeys";
import { Find } from "./find";
import { useGestures } from "./gestures";
import { Minimap } from "./minimap";
import css from "./map.css";
import { topOf, type Picture } from "./paint";
import { HeadPicker } from "./pick";
import { Scale } from "./scale";
import { withoutFirst } from "./seen";
import { placeByKey, Surface } from "./surface";
import { Telling } from "./telling";
import { around, inside, isWhole, reaching, wholeOf, zoomed, zoomedTo, type Place } from "./window";
import { MAP } from "./words";

/** "To the chosen cell" shows so many cells a side. */
const NEAR = 6;
const PER_KEY = 1.5;

export function MapView({ session }: { session: Session }): JSX.Element {
  const given = session.layer.value!;
  const layer = session.firstHidden.value ? withoutFirst(given) : given;
  const { head, query, key, lang } = session.choice;
  const top = useSignal<number | null>(null);
  const drawn = useSignal<"coming" | "complete" | "each_cell">("coming");
  const pointed = useSignal<Place | null>(null);
  const { window, whole, chosen, look, choose } = useLooking(session, layer);
  const names = { layer: session.choice.layer.value, head: head.value, rows: layer.q.rows, columns: layer.k.rows };
  const inView = windowText(window, whole);
  return (
    <div class="map-view">
      <style>{css}</style>
      <HeadPicker session={session} />
      <Tools session={session} window={window} whole={whole} chosen={chosen} look={look} />
      <Find
        tokens={layer.tokens}
        keyTokens={layer.keyTokens ?? layer.tokens}
        query={query.value}
        at={key.value}
        lang={lang.value}
        go={(to) => choose({ ...chosen, ...to }, true)}
      />
      <p id="map-help" class="visually-hidden">
        {say(MAP, "keys_help", lang.value)} {say(MAP, "zoom_help", lang.value)}
      </p>
      <Telling layer={layer} head={head.value} chosen={chosen} pointed={pointed.value} lang={lang.value} />
      <div class="map-parts">
        <Zoomable
          session={session}
          layer={layer}
          window={window}
          name={say(MAP, "map", lang.value, names)}
          look={look}
          choose={choose}
          point={(place) => (pointed.value = place)}
          painted={({ image, covers }) => {
            top.value = topOf(image.values);
            const isPooled = image.width < covers.columns || image.height < covers.rows;
            drawn.value = !image.exact ? "coming" : isPooled ? "complete" : "each_cell";
          }}
        />
        <aside class="map-side">
          <Minimap
            layer={layer}
            head={head.value}
            window={window}
            mapping={session.mapping.value}
            title={say(MAP, "overview", lang.value)}
            look={look}
          />
          <p class="quiet">{say(MAP, "window", lang.value, inView)}</p>
          <p class="quiet">{say(MAP, drawn.value, lang.value)}</p>
          <Scale session={session} top={top.value} />
          <TopKeys session={session} layer={layer} />
          <CutPanel session={session} />
        </aside>
      </div>
    </div>
  );
}

/** What is looked at, and how that changes. */
function useLooking(session: Session, layer: Layer) {
  const whole = wholeOf(layer);
  const window = session.choice.window.value === null ? whole : inside(session.choice.window.value, whole);
  const chosen = { query: session.choice.query.value, key: session.choice.key.value };
  const look = (next: Window): void => session.choose({ window: isWhole(next, whole) ? null : next });
  const choose = (place: Place, centred = false): void => {
    session.choose(place);
    if (!isWhole(window, whole)) look(centred ? around(window, whole, place) : reaching(window, whole, place));
  };
  return { whole, window, chosen, look, choose };
}

interface ZoomableGiven {
  readonly session: Session;
  readonly layer: Layer;
  readonly window: Window;
  readonly name: string;
  readonly look: (window: Window) => void;
  readonly choose: (place: Place) => void;
  readonly point: (place: Place | null) => void;
  readonly painted: (picture: Picture) => void;
}

function Zoomable({ session, layer, window, name, look, choose, point, painted }: ZoomableGiven): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const whole = wholeOf(layer);
  const chosen = { query: session.choice.query.value, key: session.choice.key.value };
  const gestures = useGestures({ window, whole, look, choose });
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = windowByKey(event.key, window, whole, chosen);
    const place = placeByKey(event, chosen, layer.q.rows, layer.k.rows);
    if (next === null && place === null) return;
    event.preventDefault();
    if (next !== null) look(next);
    else choose(place!);
  };
  return (
    <Surface
      layer={layer}
      head={session.choice.head.value}
      window={window}
      mapping={session.mapping.value}
      chosen={chosen}
      name={name}
      describedBy="map-help"
      point={point}
      painted={painted}
      canvasRef={canvas}
      touchAction={isWhole(window, whole) ? "pan-y" : "none"}
      on={{ ...gestures, onKeyDown }}
    />
  );
}

function windowByKey(key: string, window: Window, whole: Window, chosen: Place): Window | null {
  if (key === "+" || key === "=") return zoomedTo(window, PER_KEY, whole, chosen);
  if (key === "-" || key === "_") return zoomed(window, 1 / PER_KEY, whole);
  return key === "0" ? whole : null;
}

interface ToolsGiven {
  readonly session: Session;
  readonly window: Window;
  readonly whole: Window;
  readonly chosen: Place;
  readonly look: (window: Window) => void;
}

function Tools({ session, window, whole, chosen, look }: ToolsGiven): JSX.Element {
  const lang = session.choice.lang.value;
  const near = { ...window, rows: Math.min(NEAR, whole.rows), columns: Math.min(NEAR, whole.columns) };
  const buttons: readonly [string, Window][] = [
    ["closer", zoomedTo(window, 2, whole, chosen)],
    ["further", zoomed(window, 0.5, whole)],
    ["to_cell", around(near, whole, chosen)],
    ["whole", whole],
  ];
  return (
    <div class="choices" role="group" aria-label={say(MAP, "zoom", lang)}>
      {buttons.map(([name, next]) => (
        <button key={name} type="button" onClick={() => look(next)}>
          {say(MAP, name, lang)}
        </button>
      ))}
    </div>
  );
}

/** Positions of the first and last cells in view. */
function windowText({ row, rows, column, columns }: Window, whole: Window): Record<string, string | number> {
  const last = (from: number, size: number): number => Math.ceil(from + size) - 1;
  return {
    row: Math.floor(row), row_end: last(row, rows), rows: whole.rows,
    column: Math.floor(column), column_end: last(column, columns), columns: whole.columns,
  };
}
