/** How weights become colours: the switch, the legend, and the look without the first token. */
import type { JSX } from "preact";
import { number } from "../../explanation/words";
import { css, placeOf, weightColour, type Mapping } from "../../look/colours";
import type { Session } from "../../state";
import { say } from "../../words";
import { MAP } from "./words";

const MAPPINGS: readonly Mapping[] = ["row", "sqrt", "log", "linear"];
const STEPS = 16;
const COLOURS = Array.from({ length: STEPS + 1 }, (_, at) => css(weightColour(at / STEPS)));
const GRADIENT = `linear-gradient(to right, ${COLOURS.join(", ")})`;

/** Weights whose place is marked under the legend. */
const TICKS: Readonly<Record<Exclude<Mapping, "row">, readonly number[]>> = {
  sqrt: [0, 0.01, 0.1, 0.25, 0.5, 1],
  log: [0.00001, 0.001, 0.1, 1],
  linear: [0, 0.25, 0.5, 0.75, 1],
};

/** `top` is the largest weight in view, or null while nothing is drawn. */
export function Scale({ session, top }: { session: Session; top: number | null }): JSX.Element {
  const lang = session.choice.lang.value;
  const mapping = session.mapping.value;
  return (
    <div class="scale">
      <div class="scale-switches">
        <label>
          {say(MAP, "scale", lang)}{" "}
          <select value={mapping} onChange={(event) => (session.mapping.value = event.currentTarget.value as Mapping)}>
            {MAPPINGS.map((one) => (
              <option key={one} value={one}>
                {say(MAP, one, lang)}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={session.firstHidden.value}
            onChange={(event) => (session.firstHidden.value = event.currentTarget.checked)}
          />
          {say(MAP, "hide_first", lang)}
        </label>
      </div>
      {session.firstHidden.value && <p class="not-the-models">{say(MAP, "first_hidden", lang)}</p>}
      <div class="legend">
        <div class="legend-bar" style={{ background: GRADIENT }} aria-hidden="true" />
        <Ticks mapping={mapping} />
        <p class="quiet">
          {say(MAP, `${mapping}_legend`, lang, { top: top === null ? "…" : number(top) })} {say(MAP, "grey", lang)}
        </p>
      </div>
    </div>
  );
}

function Ticks({ mapping }: { mapping: Mapping }): JSX.Element {
  const ticks = mapping === "row" ? [] : TICKS[mapping];
  return (
    <div class="legend-ticks" aria-hidden="true">
      {ticks.map((weight) => (
        <span key={weight} style={{ left: `${100 * placeOf(weight, mapping)}%` }}>
          {weight === 0.00001 ? "0.00001" : number(weight)}
        </span>
      ))}
    </div>
  );
}
