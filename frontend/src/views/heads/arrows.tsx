/** Arrows from who asks to who is read, as wide as the weight. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { topOf } from "../../engine/map";
import type { Layer, Token } from "../../engine/record";
import { number } from "../../explanation/words";
import type { Session } from "../../state";
import { say } from "../../words";
import { nameOf, TokenText } from "../tokens";
import { MOST_KEYS } from "./topkeys";
import { HEADS } from "./words";

/** So many tokens stand in a column; of a longer text, the ones around the query and the keys it reads most. */
const MOST_TOKENS = 32;
const AROUND = 4;
const ROW = 28;
const WIDEST = 12;
const ACROSS = 110;
const HEAD = 7;

export function Arrows({ session, layer }: { session: Session; layer: Layer }): JSX.Element {
  const lang = session.choice.lang.value;
  const { query, key, head } = session.choice;
  const pointed = useSignal<number | null>(null);
  const every = useSignal(false);
  const keyTokens = layer.keyTokens ?? layer.tokens;
  const asking = pointed.value ?? query.value;
  const own = topOf(layer, head.value, asking, MOST_KEYS);
  const queries = placesIn(layer.q.rows, around(query.value, layer.q.rows));
  const keys = placesIn(layer.k.rows, own.heaviest.map((read) => read.key));
  const showsAll = every.value && pointed.value === null && layer.q.rows <= MOST_TOKENS;
  const arrows = (showsAll ? queries : [asking]).flatMap((from) =>
    (from === asking ? own : topOf(layer, head.value, from, MOST_KEYS)).heaviest.map(
      (read): Arrow => ({ from, to: read.key, weight: read.weight }),
    ),
  );
  const left = layer.k.rows - own.heaviest.length;
  const height = Math.max(queries.length, keys.length) * ROW;
  return (
    <section class="arrows">
      <h3>{say(HEADS, "arrows", lang)}</h3>
      {layer.q.rows <= MOST_TOKENS && (
        <label class="check">
          <input
            type="checkbox"
            checked={every.value}
            onChange={(event) => (every.value = event.currentTarget.checked)}
          />
          {say(HEADS, "every_query", lang)}
        </label>
      )}
      <div class="arrow-parts">
        <Column
          tokens={layer.tokens}
          places={queries}
          chosen={query.value}
          name={say(HEADS, "asking", lang)}
          choose={(at) => session.choose({ query: at })}
          point={(at) => (pointed.value = at)}
        />
        <Curves arrows={arrows} queries={queries} keys={keys} height={height} strong={asking} />
        <Column
          tokens={keyTokens}
          places={keys}
          chosen={key.value}
          name={say(HEADS, "reading", lang)}
          choose={(at) => session.choose({ key: at })}
          point={() => undefined}
        />
      </div>
      <p class="quiet">
        {say(HEADS, "arrow_help", lang, { n: MOST_KEYS })}
        {left > 0 && ` ${say(HEADS, left === 1 ? "arrow_rest" : "arrows_rest", lang, { n: left, rest: number(own.rest) })}`}
      </p>
    </section>
  );
}

/** All places, or, of many, the ones that matter. */
function placesIn(n: number, some: readonly number[]): number[] {
  return n <= MOST_TOKENS ? Array.from({ length: n }, (_, at) => at) : [...some].sort((a, b) => a - b);
}

function around(at: number, n: number): number[] {
  const from = Math.max(0, Math.min(at - AROUND, n - 2 * AROUND - 1));
  return Array.from({ length: Math.min(n, 2 * AROUND + 1) }, (_, step) => from + step);
}

interface ColumnGiven {
  readonly tokens: readonly Token[];
  readonly places: readonly number[];
  readonly chosen: number;
  readonly name: string;
  readonly choose: (at: number) => void;
  readonly point: (at: number | null) => void;
}

/** One tab stop: up and down, Home and End choose. */
function Column({ tokens, places, chosen, name, choose, point }: ColumnGiven): JSX.Element {
  const stop = places.includes(chosen) ? chosen : places[0];
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const at = places.indexOf(stop);
    const moves: Record<string, number> = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: places.length - 1 };
    const to = places[moves[event.key]];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
    const column = event.currentTarget;
    requestAnimationFrame(() => column.querySelector<HTMLElement>('[tabindex="0"]')?.focus());
  };
  return (
    <div class="arrow-column" role="radiogroup" aria-label={name} onKeyDown={onKeyDown}>
      <span class="quiet" aria-hidden="true">
        {name}
      </span>
      {places.map((at) => (
        <button
          key={at}
          type="button"
          role="radio"
          aria-checked={at === chosen}
          aria-label={`#${at} ${nameOf(tokens[at])}`}
          tabIndex={at === stop ? 0 : -1}
          onClick={() => choose(at)}
          onPointerEnter={() => point(at)}
          onPointerLeave={() => point(null)}
          onFocus={() => point(at)}
          onBlur={() => point(null)}
        >
          <TokenText token={tokens[at]} />
        </button>
      ))}
    </div>
  );
}

interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

interface CurvesGiven {
  readonly arrows: readonly Arrow[];
  readonly queries: readonly number[];
  readonly keys: readonly number[];
  readonly height: number;
  /** This query's arrows stand out. */
  readonly strong: number;
}

/** For eyes: the table of the same keys is read aloud. */
function Curves({ arrows, queries, keys, height, strong }: CurvesGiven): JSX.Element {
  const middle = (places: readonly number[], at: number): number => (places.indexOf(at) + 1.5) * ROW;
  const seen = arrows.filter(({ from, to, weight }) => weight > 0.0005 && queries.includes(from) && keys.includes(to));
  return (
    <svg class="curves" width={ACROSS} height={height + ROW} aria-hidden="true">
      {seen.map(({ from, to, weight }) => {
        const [y, end] = [middle(queries, from), middle(keys, to)];
        const half = ACROSS / 2;
        return (
          <g
            key={`${from}-${to}`}
            class={from === strong ? "strong" : "weak"}
            opacity={0.15 + 0.85 * Math.sqrt(weight)}
          >
            <path
              d={`M0 ${y} C${half} ${y} ${half} ${end} ${ACROSS - HEAD} ${end}`}
              stroke-width={Math.max(1, WIDEST * weight)}
            />
            <polygon points={`${ACROSS},${end} ${ACROSS - HEAD},${end - HEAD} ${ACROSS - HEAD},${end + HEAD}`} />
          </g>
        );
      })}
    </svg>
  );
}
