/** All heads, and one of them large: its weights, its arrows, and one query followed through it. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Layer } from "../../engine/record";
import { number } from "../../explanation/words";
import type { Session } from "../../state";
import { FRAME, say } from "../../words";
import { CutPanel } from "../cuts/cuts";
import mapCss from "../map/map.css";
import { topOf } from "../map/paint";
import { HeadPicker } from "../map/pick";
import { Scale } from "../map/scale";
import { withoutFirst } from "../map/seen";
import { placeByKey, placeUnder, Surface } from "../map/surface";
import { Telling } from "../map/telling";
import { wholeOf, type Place } from "../map/window";
import { MAP } from "../map/words";
import { Arrows } from "./arrows";
import { Follow } from "./follow";
import { HeadGrid } from "./grid";
import css from "./heads.css";
import { QueryPicker } from "./query";
import { Strips } from "./strips";
import { TopKeys } from "./topkeys";
import { HEADS } from "./words";

const MOST_CELL = 64;

export function HeadsView({ session }: { session: Session }): JSX.Element {
  const lang = session.choice.lang.value;
  const given = session.layer.value;
  const layer = given !== null && session.firstHidden.value ? withoutFirst(given) : given;
  const large = useRef<HTMLDivElement>(null);
  const toLarge = (): void => {
    large.current!.scrollIntoView();
    large.current!.focus();
  };
  return (
    <div class="heads-view">
      <style>{mapCss + css}</style>
      <HeadGrid session={session}>
        <button type="button" class="to-large" onClick={toLarge}>
          {say(HEADS, "to_large", lang)}
        </button>
      </HeadGrid>
      <div class="one-head" ref={large} tabIndex={-1}>
        <HeadPicker session={session} />
        {layer === null ? <p role="status">{say(FRAME, "coming", lang)}</p> : <OneHead session={session} layer={layer} />}
      </div>
      <Strips session={session} />
    </div>
  );
}

function OneHead({ session, layer }: { session: Session; layer: Layer }): JSX.Element {
  const seen = useSeen(session, layer);
  return (
    <>
      <QueryPicker session={session} layer={layer} />
      <div class="head-parts">
        <Heat session={session} layer={layer} />
        <div class="beside">
          <CutPanel session={session} />
          <Arrows session={session} layer={seen("arrows")} />
          <TopKeys session={session} layer={seen("top-keys")} />
        </div>
        <Follow session={session} layer={seen("follow")} />
      </div>
    </>
  );
}

/** The layer as a part shows it: out of sight, the last of these tokens that was seen there. */
function useSeen(session: Session, layer: Layer): (part: string) => Layer {
  const { current: last } = useRef<Record<string, Layer>>({});
  return (part) => {
    const isKept = session.unseen.value.has(part) && last[part]?.tokens === layer.tokens && last[part].source.layer === layer.source.layer;
    return isKept ? last[part] : (last[part] = layer);
  };
}

function Heat({ session, layer }: { session: Session; layer: Layer }): JSX.Element {
  const { choice } = session;
  const lang = choice.lang.value;
  const pointed = useSignal<Place | null>(null);
  const top = useSignal<number | null>(null);
  const chosen = { query: choice.query.value, key: choice.key.value };
  const names = { layer: choice.layer.value, head: choice.head.value, rows: layer.q.rows, columns: layer.k.rows };
  const window = wholeOf(layer);
  const onKeyDown = (event: KeyboardEvent): void => {
    const place = placeByKey(event, chosen, layer.q.rows, layer.k.rows);
    if (place === null) return;
    event.preventDefault();
    session.choose(place);
  };
  return (
    <section class="heat">
      <h2>{say(HEADS, "head", lang, names)}</h2>
      <p id="heat-help" class="visually-hidden">
        {say(MAP, "keys_help", lang)}
      </p>
      <Telling layer={layer} head={choice.head.value} chosen={chosen} pointed={pointed.value} lang={lang} />
      <Surface
        layer={layer}
        head={choice.head.value}
        window={window}
        mapping={session.mapping.value}
        chosen={chosen}
        name={say(MAP, "map", lang, names)}
        describedBy="heat-help"
        mostCell={MOST_CELL}
        point={(place) => (pointed.value = place)}
        painted={({ image }) => (top.value = topOf(image.values))}
        on={{ onKeyDown, onClick: (event) => session.choose(placeUnder(event, window)) }}
      />
      <Rounding session={session} />
      <p>
        <button type="button" onClick={() => session.choose({ view: "map" })}>
          {say(HEADS, "open_map", lang)}
        </button>
      </p>
      <Scale session={session} top={top.value} />
    </section>
  );
}

/** What rounding q and k to whole numbers did to this head. */
function Rounding({ session }: { session: Session }): JSX.Element | null {
  const { layer, head, lang } = session.choice;
  const { document } = session.desk.value;
  const error = document.facts[layer.value].error[head.value];
  if (document.storage === "exact" || !(error > 0)) return null;
  return <p class="quiet">{say(HEADS, "error", lang.value, { error: number(error) })}</p>;
}
