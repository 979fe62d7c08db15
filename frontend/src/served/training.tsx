/** A training as it goes: loss and accuracy by step, and the weights of the head that is worth a look. */
import type { JSX } from "preact";
import type { Lang } from "../engine/record";
import { fixed, number, shown } from "../explanation/words";
import { css, inkOn, placeOf, weightColour } from "../look/colours";
import { curveOf, HEIGHT, tableOf, WIDTH, type Curve, type Step } from "./live";
import { told } from "./words";

interface Given {
  readonly steps: readonly Step[];
  readonly lang: Lang;
}

export function Training({ steps, lang }: Given): JSX.Element {
  if (steps.length === 0) return <p class="quiet">{told("no_steps", lang)}</p>;
  const loss = curveOf(steps, "loss");
  const accuracy = curveOf(steps, "accuracy", 1);
  const table = tableOf(steps);
  return (
    <div class="training">
      <div class="plots">
        {loss && <Plot curve={loss} what={told("loss", lang)} lang={lang} />}
        {accuracy && <Plot curve={accuracy} what={told("accuracy", lang)} lang={lang} />}
      </div>
      {table && <Weights of={table} lang={lang} />}
    </div>
  );
}

function Plot({ curve: { path, high, first, last }, what, lang }: { curve: Curve; what: string; lang: Lang }): JSX.Element {
  const said = { what, from: first[0], first: number(first[1]), to: last[0], last: number(last[1]) };
  return (
    <figure class="plot">
      <figcaption>{what} <b>{number(last[1])}</b></figcaption>
      <div class="plot-box">
        <span class="quiet high" aria-hidden="true">{number(Number(high.toPrecision(4)))}</span>
        <span class="quiet low" aria-hidden="true">0</span>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={told("curve_alt", lang, said)}>
          <path d={path} />
        </svg>
      </div>
      <p class="plot-ends quiet" aria-hidden="true"><span>0</span><span>{last[0].toLocaleString("en")}</span></p>
    </figure>
  );
}

function Weights({ of: { step, weights, tokens, keys, layer, head }, lang }: { of: Step; lang: Lang }): JSX.Element {
  const rows = weights!;
  const asked = tokens ?? rows.map((_, at) => String(at));
  const read = keys ?? asked;
  return (
    <div class="weights">
      <p><b>{told("table", lang, { step: step.toLocaleString("en") })}</b></p>
      {typeof layer === "number" && typeof head === "number" && <p class="quiet">{told("table_under", lang, { layer, head })}</p>}
      <div class="scrolls" tabIndex={0} role="region" aria-label={told("table", lang, { step: step.toLocaleString("en") })}>
        <table>
          <thead>
            <tr>
              <td />
              {rows[0].map((_, key) => <th key={key} scope="col">{shown(read[key] ?? "")}</th>)}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, query) => (
              <tr key={query}>
                <th scope="row">{shown(asked[query] ?? "")}</th>
                {row.map((weight, key) => <Weight key={key} weight={weight} />)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Weight({ weight }: { weight: number }): JSX.Element {
  const colour = weightColour(placeOf(weight, "sqrt"));
  return <td style={{ background: css(colour), color: inkOn(colour) }}>{fixed(weight, 2)}</td>;
}
