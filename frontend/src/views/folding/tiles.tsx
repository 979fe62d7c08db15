/** The keys in their tiles: which were folded and let go, which is read now, which are still to come. */
import type { JSX } from "preact";
import type { Folding, Fold } from "../../engine/folding";
import type { Lang, Layer } from "../../engine/record";
import { TokenText } from "../tokens";
import { told } from "./words";

const MOST_TILES = 24; // around the one that is read; how many stand before and after is told
const MOST_KEYS = 4;

interface Given {
  readonly layer: Layer;
  readonly lang: Lang;
  readonly folding: Folding;
  readonly at: number;
  readonly go: (to: number) => void;
}

export function Tiles({ layer, lang, folding: { folds }, at, go }: Given): JSX.Element {
  const from = Math.max(0, Math.min(at - MOST_TILES / 2, folds.length - MOST_TILES));
  const shown = folds.slice(from, from + MOST_TILES);
  const after = folds.length - from - shown.length;
  return (
    <ol class="tiles" aria-label={told("tiles", lang)} start={from + 1}>
      {from > 0 && <li class="quiet">{told("more", lang, { n: from })} …</li>}
      {shown.map((fold, place) => {
        const state = from + place < at ? "folded" : from + place === at ? "now" : "later";
        return (
          <li key={from + place}>
            <button type="button" class={state} aria-current={state === "now" ? "step" : undefined} onClick={() => go(from + place)}>
              <Keys layer={layer} fold={fold} />
              <small>{told(state, lang)}</small>
            </button>
          </li>
        );
      })}
      {after > 0 && <li class="quiet">… {told("more", lang, { n: after })}</li>}
    </ol>
  );
}

/** All keys of a tile, or its first and last. */
function Keys({ layer, fold: { from, to } }: { layer: Layer; fold: Fold }): JSX.Element {
  const tokens = layer.keyTokens ?? layer.tokens;
  const isWide = to - from > MOST_KEYS;
  const places = isWide ? [from, to - 1] : Array.from({ length: to - from }, (_, at) => from + at);
  return (
    <span class="keys">
      {places.map((key, at) => (
        <span key={key}>
          {isWide && at > 0 && "… "}
          <TokenText token={tokens[key]} />
        </span>
      ))}
    </span>
  );
}
