/** Every head by how much it changed: the first answer to "what is different here?" */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { number, quoted } from "../../explanation/words";
import type { Lang, Layer } from "../../engine/record";
import type { HeadChange, Pair } from "../../hosts/model";
import type { Session } from "../../state";
import { say } from "../../words";
import { inSlices } from "../map/slices";
import { changeOf, keyPairsOf } from "./aligned";
import { COMPARE } from "./words";

const SHOWN_AT_FIRST = 8;

interface Given {
  readonly session: Session;
  readonly pairs: readonly Pair[];
  readonly go: (query: Pair, key: Pair) => void;
}

export function Changes({ session, pairs, go }: Given): JSX.Element {
  const lang = session.choice.lang.value;
  const { changes, all } = useChanges(session, pairs);
  const everything = useSignal(false);
  const sorted = [...changes].sort((a, b) => (b.distance ?? -1) - (a.distance ?? -1));
  const listed = everything.value ? sorted : sorted.slice(0, SHOWN_AT_FIRST);
  return (
    <section class="changes">
      <h2>{say(COMPARE, "changed_heads", lang)}</h2>
      <p class="quiet">{say(COMPARE, "changed_help", lang)}</p>
      {changes.length < all && <p role="status">{say(COMPARE, "counting", lang, { n: changes.length, all })}</p>}
      <table>
        <thead>
          <tr>
            {["layer", "head", "distance", "largest"].map((name) => (
              <th key={name} scope="col">
                {say(COMPARE, name, lang)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {listed.map((change) => (
            <Change key={`${change.layer}-${change.head}`} session={session} change={change} go={go} />
          ))}
        </tbody>
      </table>
      {sorted.length > SHOWN_AT_FIRST && (
        <button type="button" aria-expanded={everything.value} onClick={() => (everything.value = !everything.value)}>
          {say(COMPARE, everything.value ? "fewer" : "every", lang, { n: sorted.length })}
        </button>
      )}
    </section>
  );
}

function Change({ session, change, go }: { session: Session; change: HeadChange; go: Given["go"] }): JSX.Element {
  const lang = session.choice.lang.value;
  const { layer, head, distance, query, key } = change;
  const isChosen = session.choice.layer.value === layer && session.choice.head.value === head;
  const open = (): void => {
    session.choose({ layer, head });
    if (query !== null && key !== null) go(query, key);
  };
  return (
    <tr class={isChosen ? "chosen" : ""} aria-current={isChosen ? "true" : undefined}>
      <td>{session.desk.value.number(layer)}</td>
      <td>{head}</td>
      <td class="bar" style={{ "--share": distance ?? 0 }}>
        {distance === null ? say(COMPARE, "none", lang) : number(distance)}
      </td>
      <td>
        <button type="button" class="plain" onClick={open}>
          {largestOf(session, change, lang)}
        </button>
      </td>
    </tr>
  );
}

function largestOf(session: Session, { layer, query, key, largest }: HeadChange, lang: Lang): string {
  const here = session.desks[0].layer(layer);
  if (query === null || key === null || here === null) return signed(largest);
  const keys = here.keyTokens ?? here.tokens;
  const names = { asks: quoted(here.tokens[query[0]].label.text, lang), read: quoted(keys[key[0]].label.text, lang) };
  return say(COMPARE, "largest_at", lang, { change: signed(largest), ...names });
}

export function signed(change: number): string {
  const size = number(Math.abs(change));
  return size === "0" ? "0" : `${change < 0 ? "-" : "+"}${size}`;
}

/** As they came with the page, or, after an edit, counted here, some heads a frame. */
function useChanges(session: Session, pairs: readonly Pair[]): { changes: readonly HeadChange[]; all: number } {
  const counted = useSignal<readonly HeadChange[]>([]);
  const sent = isAsItCame(session) ? (session.pairing?.heads ?? null) : null;
  const layers = sent === null ? bothOf(session) : [];
  useEffect(() => {
    const todo = layers.flatMap(({ a, b, at }) => Array.from({ length: a.q.heads }, (_, head) => ({ a, b, at, head })));
    const done: HeadChange[] = [];
    const step = (): boolean => {
      const next = todo[done.length];
      if (next === undefined) return false;
      const { at, ...both } = next;
      done.push(changeOf(at, { ...both, keys: keyPairsOf(both.a, both.b, pairs) }, pairs));
      return true;
    };
    return inSlices(step, () => (counted.value = [...done]));
  }, [sent, pairs, ...layers.slice(0, 1).flatMap(({ a, b }) => [a, b]), layers.length]);
  if (sent !== null) return { changes: sent, all: sent.length };
  return { changes: counted.value, all: session.desks[0].document.facts.reduce((n, { n_heads }) => n + n_heads, 0) };
}

export function isAsItCame(session: Session): boolean {
  return session.desks.slice(0, 2).every((desk) => desk.sheet.value === desk.original);
}

interface Beside {
  readonly a: Layer;
  readonly b: Layer;
  readonly at: number;
}

/** The layers that are here in both. */
function bothOf(session: Session): Beside[] {
  const [first, second] = session.desks;
  const n = Math.min(first.nLayers, second.nLayers);
  return Array.from({ length: n }, (_, at) => ({ a: first.layer(at), b: second.layer(at), at })).filter(
    (one): one is Beside => one.a !== null && one.b !== null && one.a.q.heads === one.b.q.heads,
  );
}
