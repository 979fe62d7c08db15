/** The chosen head's attention, and W_Q, W_K, W_V and W_O, as small heat maps: as they are, or how far they moved. */
import type { JSX } from "preact";
import type { Signal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { MATRICES, type History, type Matrix } from "../../engine/history";
import { rowOf, stageOf } from "../../engine/path";
import type { Lang, Layer, Table } from "../../engine/record";
import { differenceColour, weightColour, type Rgb } from "../../look/colours";
import type { Session } from "../../state";
import { nameOf } from "../tokens";
import { Gradient, useWhy, type Asked } from "./gradient";
import type { Side } from "./run";
import { told } from "./words";

export const SHOWS = ["now", "start", "last"] as const;
export type Shows = (typeof SHOWS)[number];

interface Given {
  readonly session: Session;
  readonly side: Side;
  readonly shows: Signal<Shows>;
  readonly asked: Asked;
}

/** Out of sight, what was seen last: the same nodes, which are not drawn again. */
export function Matrices(given: Given): JSX.Element {
  const { session, side } = given;
  const last = useRef<JSX.Element | null>(null);
  const layer = Math.min(session.choice.layer.value, side.desk.nLayers - 1);
  const moment = { at: layer, layer: side.desk.layer(layer)!, snapshot: side.snapshot.value, probe: side.probe.value };
  if (last.current === null || !session.unseen.value.has("matrices")) last.current = <Drawn {...given} {...moment} />;
  return last.current;
}

/** What belongs together: a layer by its place and as it was at a snapshot, on a probe. */
export interface Moment {
  readonly at: number;
  readonly layer: Layer;
  readonly snapshot: number;
  readonly probe: number;
}

function Drawn({ session, side, shows, asked, ...moment }: Given & Moment): JSX.Element {
  const { history } = side;
  const { at: layer, snapshot } = moment;
  const lang = session.choice.lang.value;
  const here = MATRICES.filter((matrix) => history.weight(layer, matrix, 0) !== null);
  const top = useMemo(() => topOf(history, layer, shows.value), [history, layer, shows.value]);
  const why = useWhy(side, asked, moment);
  return (
    <section class="matrices">
      <h3>{told("matrices", lang, { layer })}</h3>
      {here.length > 0 && <label>
        {told("show", lang)}{" "}
        <select value={shows.value} onChange={(event) => (shows.value = event.currentTarget.value as Shows)}>
          {SHOWS.map((one) => <option key={one} value={one}>{told(one, lang)}</option>)}
        </select>
      </label>}
      <div class="maps">
        <Attention session={session} {...moment} lang={lang} />
        {here.map((matrix) => (
          <Map
            key={matrix}
            name={matrix.toUpperCase()}
            table={shownAt(history, layer, matrix, snapshot, shows.value)}
            top={top}
            spot={why?.matrix === matrix ? why : null}
            what={told(shows.value, lang)}
            lang={lang}
          />
        ))}
      </div>
      {here.length > 0 && <p class="quiet">{told("scale", lang, { top })}</p>}
      <Gradient side={side} asked={asked} why={why} step={history.steps[snapshot]} lang={lang} />
    </section>
  );
}

/** A matrix, or its difference from an earlier one. */
function shownAt(history: History, layer: number, matrix: Matrix, snapshot: number, shows: Shows): Table {
  const now = history.weight(layer, matrix, snapshot)!;
  if (shows === "now") return now;
  const before = history.weight(layer, matrix, shows === "start" ? 0 : Math.max(0, snapshot - 1))!;
  return { ...now, values: Float64Array.from(now.values, (value, at) => value - before.values[at]) };
}

/** The largest number that any matrix of the layer shows at any snapshot. */
function topOf(history: History, layer: number, shows: Shows): number {
  let top = 0;
  for (const matrix of MATRICES) {
    if (history.weight(layer, matrix, 0) === null) continue;
    for (let at = 0; at < history.steps.length; at += 1) {
      top = Math.max(top, sizesOf(shownAt(history, layer, matrix, at, shows)).largest);
    }
  }
  return top;
}

function sizesOf({ values }: Table): { largest: number; norm: number } {
  let [largest, squares] = [0, 0];
  for (let at = 0; at < values.length; at += 1) {
    largest = Math.max(largest, Math.abs(values[at]));
    squares += values[at] ** 2;
  }
  return { largest, norm: Math.sqrt(squares) };
}

interface MapGiven {
  readonly name: string;
  readonly table: Table;
  readonly top: number;
  /** The entry that is explained. */
  readonly spot: { readonly row: number; readonly column: number } | null;
  readonly what: string;
  readonly lang: Lang;
}

function Map({ name, table, top, spot, what, lang }: MapGiven): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const sizes = sizesOf(table);
  useLayoutEffect(() => paint(canvas.current!, table, (value) => differenceColour(top > 0 ? value / top : 0)), [table, top]);
  return (
    <figure>
      <figcaption><i>{name[0]}</i><sub>{name.slice(2)}</sub></figcaption>
      <span class="map">
        <canvas
          ref={canvas} role="img" width={table.columns} height={table.rows}
          aria-label={told("matrix", lang, { name, what, rows: table.rows, columns: table.columns, ...sizes })}
        />
        {spot && <span class="spot" style={placeOf(spot, table)} />}
      </span>
      <span class="quiet">{told("norm", lang, sizes)}</span>
    </figure>
  );
}

function placeOf({ row, column }: { row: number; column: number }, { rows, columns }: Table): Record<string, string> {
  return { left: `${(100 * (column + 0.5)) / columns}%`, top: `${(100 * (row + 0.5)) / rows}%` };
}

/** What these weights do now: the chosen head on the sentence that is looked at. */
function Attention({ session: { choice }, at, layer, lang }: Pick<Given, "session"> & Moment & { lang: Lang }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const head = Math.min(choice.head.value, layer.q.heads - 1);
  const [rows, columns] = [layer.q.rows, layer.k.rows];
  useLayoutEffect(() => paint(canvas.current!, weightsOf(layer, head), (weight) => (weight < 0 ? null : weightColour(Math.sqrt(weight)))), [layer, head]);
  const query = Math.min(choice.query.value, rows - 1);
  const { weights } = rowOf(layer, head, query);
  const weight = weights.reduce((most, one) => Math.max(most, one));
  const key = nameOf((layer.keyTokens ?? layer.tokens)[weights.indexOf(weight)]);
  const names = { layer: at, head, rows, columns, key, weight };
  return (
    <figure>
      <figcaption>{told("attention", lang)}</figcaption>
      <canvas ref={canvas} role="img" width={columns} height={rows} aria-label={told("attention_of", lang, names)} />
      <span class="quiet">{told("reads_most", lang, { query: nameOf(layer.tokens[query]), key, weight })}</span>
    </figure>
  );
}

/** −1 where nothing may be read. */
function weightsOf(layer: Layer, head: number): Table {
  const [weights, allowed] = [stageOf(layer, "weights", head), stageOf(layer, "allowed", head)];
  return { ...weights, values: weights.values.map((weight: number, at: number) => (allowed.values[at] ? weight : -1)) };
}

/** Without a colour the ground is seen. */
function paint(canvas: HTMLCanvasElement, { rows, columns, values }: Table, colourOf: (value: number) => Rgb | null): void {
  const image = new ImageData(columns, rows);
  const { data } = image;
  for (let at = 0; at < values.length; at += 1) {
    const colour = colourOf(values[at]);
    if (colour === null) continue;
    [data[4 * at], data[4 * at + 1], data[4 * at + 2]] = colour;
    data[4 * at + 3] = 255;
  }
  canvas.getContext("2d")!.putImageData(image, 0, 0);
}
