/** One query through every stage of the chosen head: what each of its heaviest keys had at each of them. */
import type { JSX } from "preact";
import { topOf } from "../../engine/map";
import { kvHeadOf, namesOf, rowOf, weightedValuesOf } from "../../engine/path";
import type { Lang, Layer } from "../../engine/record";
import { number } from "../../explanation/words";
import type { Session } from "../../state";
import { say } from "../../words";
import { nameOf, TokenText } from "../tokens";
import { MOST_KEYS } from "./topkeys";
import { HEADS } from "./words";

/** Dimensions of the values with a column of their own. */
const MOST_DIMENSIONS = 4;

export function Follow({ session, layer }: { session: Session; layer: Layer }): JSX.Element {
  const { lang: said, query, head, layer: at } = session.choice;
  const lang = said.value;
  const about = { query: query.value, token: nameOf(layer.tokens[query.value]) };
  return (
    <section class="follow">
      <h3>{say(HEADS, "follow", lang, about)}</h3>
      <div class="scrolls" tabIndex={0} role="region" aria-label={say(HEADS, "follow", lang, about)}>
        <table>
          <caption class="quiet">
            <span>{say(HEADS, "follow_caption", lang, about)}</span>
          </caption>
          <Stages session={session} layer={layer} />
        </table>
      </div>
      {layer.v === null && <p class="quiet">{say(HEADS, "no_values", lang, { layer: session.desk.value.number(at.value) })}</p>}
      {session.firstHidden.value && <p class="not-the-models">{say(HEADS, "first_values", lang)}</p>}
      {layer.k.heads < layer.q.heads && (
        <p class="quiet">{say(HEADS, "shared", lang, { kv: kvHeadOf(layer, head.value), n: layer.k.heads })}</p>
      )}
    </section>
  );
}

/** A row a key, the heaviest first; then what all others come to, and the sum of all. */
function Stages({ session, layer }: { session: Session; layer: Layer }): JSX.Element {
  const lang = session.choice.lang.value;
  const [head, query] = [session.choice.head.value, session.choice.query.value];
  const row = rowOf(layer, head, query);
  const values = layer.v === null ? null : dimensionsOf(layer, head, query, lang);
  const every = Array.from(row.weights.keys());
  const heaviest = topOf(layer, head, query, MOST_KEYS).heaviest.map(({ key }) => key);
  const listed = heaviest.length > 0 ? heaviest : every.slice(0, MOST_KEYS);
  const left = every.filter((key) => !listed.includes(key));
  const stages = ["key", "scores", "scaled", "allowed", "weight"].map((name) => say(HEADS, name, lang));
  const names = [...stages, ...(values?.names ?? [])];
  return (
    <>
      <thead>
        <tr>
          {names.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {listed.map((key) => (
          <tr key={key} class={key === session.choice.key.value ? "chosen" : ""}>
            <th scope="row">
              <span class="quiet">#{key}</span> <TokenText token={(layer.keyTokens ?? layer.tokens)[key]} />
            </th>
            <td>{number(row.scores[key])}</td>
            <td>{number(row.scaled[key])}</td>
            <td>{say(HEADS, row.allowed[key] ? "yes" : "no", lang)}</td>
            <td>{number(row.weights[key])}</td>
            <Values values={values} keys={[key]} />
          </tr>
        ))}
        {left.length > 0 && (
          <tr class="others">
            <th scope="row" colSpan={4}>
              {say(HEADS, left.length === 1 ? "other" : "others", lang, { n: left.length })}
            </th>
            <td>{number(left.reduce((sum, key) => sum + row.weights[key], 0))}</td>
            <Values values={values} keys={left} />
          </tr>
        )}
        {values !== null && (
          <tr class="others">
            <th scope="row" colSpan={5}>
              {say(HEADS, "mixed", lang)}
            </th>
            <Values values={values} keys={every} />
          </tr>
        )}
      </tbody>
    </>
  );
}

function Values({ values, keys }: { values: Dimensions | null; keys: readonly number[] }): JSX.Element {
  return <>{values?.of(keys).map((value, column) => <td key={column}>{number(value)}</td>)}</>;
}

interface Dimensions {
  readonly names: readonly string[];
  /** For some keys, what their weighted values come to in each column. */
  readonly of: (keys: readonly number[]) => number[];
}

/** The first few dimensions of the weighted values, and the sum of the others, so that each row still closes. */
function dimensionsOf(layer: Layer, head: number, query: number, lang: Lang): Dimensions {
  const { columns, values } = weightedValuesOf(layer, head, query);
  const own = Math.min(columns, MOST_DIMENSIONS);
  const said = namesOf(layer, "v");
  const names = Array.from({ length: own }, (_, at) => say(HEADS, "weighted_value", lang, { name: said?.[at] ?? at }));
  if (columns > own) names.push(say(HEADS, "more_dims", lang, { n: columns - own }));
  const of = (keys: readonly number[]): number[] => {
    const sums = new Array<number>(names.length).fill(0);
    for (const key of keys) {
      for (let column = 0; column < columns; column++) {
        sums[Math.min(column, names.length - 1)] += values[key * columns + column];
      }
    }
    return sums;
  };
  return { names, of };
}
