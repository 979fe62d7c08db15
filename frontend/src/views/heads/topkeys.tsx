/** The heaviest keys of the chosen query, as a table that reads aloud what a canvas cannot. */
import type { JSX } from "preact";
import { topOf } from "../../engine/map";
import type { Lang, Layer } from "../../engine/record";
import { number, percent } from "../../explanation/words";
import type { Session } from "../../state";
import { say } from "../../words";
import { nameOf, TokenText } from "../tokens";
import { HEADS } from "./words";

export const MOST_KEYS = 10;

export function TopKeys({ session, layer }: { session: Session; layer: Layer }): JSX.Element {
  const lang = session.choice.lang.value;
  const { query, key, head } = session.choice;
  const { heaviest, rest } = topOf(layer, head.value, query.value, MOST_KEYS);
  const keys = layer.keyTokens ?? layer.tokens;
  const about = { query: query.value, token: nameOf(layer.tokens[query.value]) };
  const caption = say(HEADS, "top_keys", lang, about);
  if (heaviest.length === 0) return <p class="top-keys">{`${caption}: ${say(HEADS, "nothing_allowed", lang)}`}</p>;
  return (
    <table class="top-keys">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{say(HEADS, "key", lang)}</th>
          <th scope="col">{say(HEADS, "weight", lang)}</th>
          <th scope="col">{say(HEADS, "share", lang)}</th>
        </tr>
      </thead>
      <tbody>
        {heaviest.map(({ key: at, weight }) => (
          <tr key={at} class={at === key.value ? "chosen" : ""}>
            <th scope="row">
              <button type="button" class="plain" onClick={() => session.choose({ key: at })}>
                <span class="quiet">#{at}</span> <TokenText token={keys[at]} />
              </button>
            </th>
            <td>{number(weight)}</td>
            <td class="bar" style={{ "--share": weight }}>
              {percent(weight)}
            </td>
          </tr>
        ))}
        <Others
          layer={layer}
          shown={heaviest.length}
          rest={rest}
          lang={lang}
          sink={1 - rest - heaviest.reduce((sum, { weight }) => sum + weight, 0)}
        />
      </tbody>
    </table>
  );
}

interface OthersGiven {
  readonly layer: Layer;
  readonly shown: number;
  readonly rest: number;
  readonly sink: number;
  readonly lang: Lang;
}

/** What the table left out: a short list that does not add up to 1 would mislead. */
function Others({ layer, shown, rest, sink, lang }: OthersGiven): JSX.Element {
  const n = layer.k.rows - shown;
  const rows: [string, number][] = [];
  if (n > 0) rows.push([n === 1 ? say(HEADS, "other", lang) : say(HEADS, "others", lang, { n }), rest]);
  if (layer.rule.sink !== null) rows.push([say(HEADS, "sink", lang), Math.max(0, sink)]);
  return (
    <>
      {rows.map(([name, weight]) => (
        <tr key={name} class="others">
          <th scope="row">{name}</th>
          <td>{number(weight)}</td>
          <td>{percent(weight)}</td>
        </tr>
      ))}
    </>
  );
}
