/** One query's row in every head of a layer, or of all layers: a strip a head. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { rowOf } from "../../engine/path";
import type { Layer } from "../../engine/record";
import { percent } from "../../explanation/words";
import { placeOf, weightColour } from "../../look/colours";
import type { Session } from "../../state";
import { FRAME, say } from "../../words";
import { put, topOf } from "../map/paint";
import { withoutFirst } from "../map/seen";
import { inSlices } from "../map/slices";
import { nameOf } from "../tokens";
import { HEADS } from "./words";

const WIDTH = 160;

interface Strip {
  readonly layer: number;
  readonly head: number;
  /** The largest weight under each pixel, −1 where nothing is allowed. */
  readonly pixels: Float32Array;
  readonly most: { readonly key: number; readonly weight: number } | null;
}

export function Strips({ session }: { session: Session }): JSX.Element {
  const { choice } = session;
  const lang = choice.lang.value;
  const all = useSignal(false);
  const strips = useStrips(session, all.value);
  const tokens = session.layer.value?.tokens ?? session.desk.value.document.tokens(choice.layer.value);
  const asking = tokens[choice.query.value];
  const about = { query: choice.query.value, token: asking ? nameOf(asking) : "" };
  const chosen = strips.findIndex(({ layer, head }) => layer === choice.layer.value && head === choice.head.value);
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Record<string, number> = { ArrowUp: chosen - 1, ArrowDown: chosen + 1, Home: 0, End: strips.length - 1 };
    const to = strips[moves[event.key]];
    if (to === undefined) return;
    event.preventDefault();
    session.choose({ layer: to.layer, head: to.head });
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus());
  };
  return (
    <section class="strips">
      <h3>{say(HEADS, "strips", lang, about)}</h3>
      {session.desk.value.nLayers > 1 && (
        <div class="choices" role="group">
          {[false, true].map((one) => (
            <button key={String(one)} type="button" aria-pressed={all.value === one} onClick={() => (all.value = one)}>
              {say(HEADS, one ? "all_layers" : "this_layer", lang)}
            </button>
          ))}
        </div>
      )}
      <div
        class="strip-list"
        role="radiogroup"
        aria-label={say(HEADS, "strips", lang, about)}
        ref={list}
        onKeyDown={onKeyDown}
      >
        {strips.map((strip, at) => (
          <StripButton
            key={`${strip.layer}-${strip.head}`}
            session={session}
            strip={strip}
            isChosen={at === chosen}
            isStop={at === Math.max(0, chosen)}
          />
        ))}
      </div>
      <Missing session={session} all={all.value} />
      <p class="quiet">{say(HEADS, "strips_help", lang)}</p>
    </section>
  );
}

function Missing({ session, all }: { session: Session; all: boolean }): JSX.Element | null {
  const desk = session.desk.value;
  const lacks = all && desk.document.facts.some((_, at) => desk.layer(at) === null);
  return lacks ? <p role="status">{say(FRAME, "coming", session.choice.lang.value)}</p> : null;
}

interface StripGiven {
  readonly session: Session;
  readonly strip: Strip;
  readonly isChosen: boolean;
  readonly isStop: boolean;
}

function StripButton({ session, strip, isChosen, isStop }: StripGiven): JSX.Element {
  const lang = session.choice.lang.value;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => paint(canvas.current!, strip.pixels), [strip.pixels]);
  const keys = session.desk.value.layer(strip.layer);
  const place = { layer: strip.layer, head: strip.head };
  const named = { layer: session.desk.value.number(strip.layer), head: strip.head };
  const name = say(HEADS, "head", lang, named);
  const { most } = strip;
  const token = keys && most ? nameOf((keys.keyTokens ?? keys.tokens)[most.key]) : "";
  const label = most
    ? say(HEADS, "strip", lang, { name, key: most.key, token, percent: percent(most.weight) })
    : say(HEADS, "strip_none", lang, { name });
  return (
    <button
      type="button"
      role="radio"
      aria-checked={isChosen}
      aria-label={label}
      title={label}
      tabIndex={isStop ? 0 : -1}
      onClick={() => session.choose(place)}
    >
      <span class="where">{say(HEADS, "place_short", lang, named)}</span>
      <canvas ref={canvas} aria-hidden="true" />
    </button>
  );
}

/** The strips, as far as they are made: some heads a frame, anew when the query changes. */
function useStrips(session: Session, all: boolean): readonly Strip[] {
  const made = useSignal<readonly Strip[]>([]);
  const { desk: { value: desk }, choice } = session;
  const query = choice.query.value;
  const wanted = all ? desk.document.facts.map((_, at) => at) : [choice.layer.value];
  const layers = wanted
    .map((at) => ({ at, layer: desk.layer(at) }))
    .filter((one): one is Here => one.layer !== null && query < one.layer.q.rows);
  const hidden = session.firstHidden.value;
  const mapping = layers.map(({ layer }) => layer);
  useEffect(() => {
    const todo = layers.flatMap((one) => Array.from({ length: one.layer.q.heads }, (_, head) => ({ ...one, head })));
    const done: Strip[] = [];
    const step = (): boolean => {
      const next = todo[done.length];
      if (next === undefined) return false;
      const { at, layer, head } = next;
      done.push({ layer: at, head, ...stripOf(hidden ? withoutFirst(layer) : layer, head, query) });
      return true;
    };
    return inSlices(step, (goesOn) => {
      if (!goesOn) made.value = done;
    });
  }, [desk, all, query, hidden, ...mapping.slice(0, 1), mapping.length]);
  return made.value;
}

interface Here {
  readonly at: number;
  readonly layer: Layer;
}

function stripOf(layer: Layer, head: number, query: number): Pick<Strip, "pixels" | "most"> {
  const { weights, allowed } = rowOf(layer, head, query);
  const n = weights.length;
  const pixels = new Float32Array(Math.min(WIDTH, n)).fill(-1);
  let most: Strip["most"] = null;
  weights.forEach((weight, key) => {
    if (!allowed[key]) return;
    const at = Math.floor((key * pixels.length) / n);
    pixels[at] = Math.max(pixels[at], weight);
    if (most === null || weight > most.weight) most = { key, weight };
  });
  return { pixels, most };
}

function paint(canvas: HTMLCanvasElement, pixels: Float32Array): void {
  [canvas.width, canvas.height] = [pixels.length, 1];
  const data = new ImageData(pixels.length, 1);
  const top = topOf(pixels);
  pixels.forEach((weight, at) => weight >= 0 && put(data, at, weightColour(placeOf(weight, "row", top))));
  canvas.getContext("2d")!.putImageData(data, 0, 0);
}
