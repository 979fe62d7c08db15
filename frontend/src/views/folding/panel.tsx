/** Above the views: one row as flash attention comes to it, a step a tile, and the row in the end. */
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { fewTiles, foldingOf, type Folding } from "../../engine/folding";
import type { Lang, Layer } from "../../engine/record";
import type { Session } from "../../state";
import { isolated } from "../../isolated";
import { nameOf } from "../tokens";
import css from "./folding.css";
import { aboutOf, endSaid, foldSaid, startSaid, titleOf } from "./said";
import { End, Fold } from "./table";
import { Tiles } from "./tiles";
import { told } from "./words";

/** tile: keys of a tile, 0 for as many as make eight tiles; fold: the tile that is shown, or after the last the end. */
type Places = Readonly<Record<"tile" | "fold", Signal<number>>>;

interface Given {
  readonly session: Session;
  readonly places: Places;
}

export function Panel({ session, places }: Given): JSX.Element {
  const layer = session.layer.value;
  const lang = session.choice.lang.value;
  return (
    <>
      <style>{css}</style>
      {layer === null ? <p role="status">{told("coming", lang)}</p> : <Shown session={session} places={places} layer={layer} />}
    </>
  );
}

function Shown({ session, places, layer }: Given & { layer: Layer }): JSX.Element {
  const { choice } = session;
  const lang = choice.lang.value;
  const head = Math.min(choice.head.value, layer.q.heads - 1);
  const query = Math.min(choice.query.value, layer.q.rows - 1);
  const tile = Math.min(layer.k.rows, places.tile.value || fewTiles(layer.k.rows));
  const folding = useMemo(() => foldingOf(layer, head, query, tile), [layer, head, query, tile]);
  const at = Math.min(places.fold.value, folding.folds.length);
  const go = (to: number): void => {
    places.fold.value = Math.max(0, Math.min(folding.folds.length, to));
  };
  const of = { layer, head, query, lang };
  return (
    <section class="folding" aria-labelledby="folding-title">
      <h2 id="folding-title">{titleOf(layer, query, lang)}</h2>
      <p>{aboutOf(layer, head, query, tile, lang)} {startSaid(folding, lang)}</p>
      <Choices session={session} places={places} layer={layer} tile={tile} />
      <Steps at={at} n={folding.folds.length} go={go} lang={lang} />
      <Tiles {...of} folding={folding} at={at} go={go} />
      <p class="sentence" aria-live="polite">{saidAt(of, tile, folding, at)}</p>
      {layer.v === null && <p class="quiet">{told("no_values", lang)}</p>}
      {at < folding.folds.length ? <Fold {...of} fold={folding.folds[at]} /> : <End {...of} folding={folding} />}
    </section>
  );
}

function saidAt({ layer, query, lang }: { layer: Layer; query: number; lang: Lang }, tile: number, folding: Folding, at: number): string {
  const fold = folding.folds[at];
  return fold ? foldSaid(layer, query, fold, at, lang) : endSaid(layer, query, tile, folding, lang);
}

/** Whose row, and how large a tile is; the views below follow. */
function Choices({ session, places, layer, tile }: Given & { layer: Layer; tile: number }): JSX.Element {
  const { choice } = session;
  const lang = choice.lang.value;
  const powers = Array.from({ length: 20 }, (_, power) => 2 ** power).filter((size) => size < layer.k.rows);
  const sizes = [...new Set([...powers, tile, layer.k.rows])].sort((a, b) => a - b);
  return (
    <p class="options">
      <label>
        {told("query", lang)}{" "}
        <select value={choice.query.value} onChange={(event) => session.choose({ query: Number(event.currentTarget.value) })}>
          {layer.tokens.map((token, at) => <option key={at} value={at}>{`${isolated(nameOf(token))} (${at})`}</option>)}
        </select>
      </label>
      {layer.q.heads > 1 && (
        <label>
          {told("head", lang)}{" "}
          <select value={choice.head.value} onChange={(event) => session.choose({ head: Number(event.currentTarget.value) })}>
            {Array.from({ length: layer.q.heads }, (_, at) => <option key={at} value={at}>{at}</option>)}
          </select>
        </label>
      )}
      <label>
        {told("tile", lang)}{" "}
        <select value={tile} onChange={(event) => (places.tile.value = Number(event.currentTarget.value))}>
          {sizes.map((size) => <option key={size} value={size}>{size}</option>)}
        </select>
      </label>
    </p>
  );
}

interface StepsGiven {
  readonly at: number;
  readonly n: number;
  readonly go: (to: number) => void;
  readonly lang: Lang;
}

/** The slider has the keys: arrows, Home and End. A button at its end keeps the focus, which a disabled one would lose. */
function Steps({ at, n, go, lang }: StepsGiven): JSX.Element {
  const name = at < n ? told("at", lang, { at: at + 1, n }) : told("divided", lang, { n });
  return (
    <div class="steps">
      <button type="button" aria-disabled={at === 0} aria-label={told("previous", lang)} onClick={() => go(at - 1)}>
        ◀
      </button>
      <input
        type="range" min={0} max={n} step={1} value={at} aria-label={told("step", lang)} aria-valuetext={name}
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <button type="button" aria-disabled={at === n} aria-label={told("next", lang)} onClick={() => go(at + 1)}>
        ▶
      </button>
      <output>{name}</output>
    </div>
  );
}
