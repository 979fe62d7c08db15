/** Loss, accuracy and what the heads read, and the norms of the gradients: three small plots with one marker. */
import type { JSX } from "preact";
import { useComputed, useSignal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { Lang } from "../../engine/record";
import { number } from "../../explanation/words";
import type { Session } from "../../state";
import { axisOf, headCurve, HEIGHT, largest, pathOf, stepAt, valueAt, WIDTH, type Curve } from "./curves";
import type { Runs, Side } from "./run";
import { told } from "./words";

interface Line {
  readonly curve: Curve;
  /** null: a thin line that no text names. */
  readonly name: string | null;
  readonly look: "first" | "second" | "third" | "other";
}

interface Level {
  readonly at: number;
  readonly name: string;
}

interface PlotGiven {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly levels?: readonly Level[];
  readonly high: number;
}

interface Given {
  readonly session: Session;
  readonly runs: Runs;
  readonly side: Side;
  readonly isLog: Signal<boolean>;
  /** The same for both sides, so that they can be compared. */
  readonly tops: { readonly loss: number; readonly norms: number };
}

/** The largest loss and gradient of any side. */
export function topsOf({ sides }: Runs): Given["tops"] {
  const norms = sides.flatMap(({ history }) => history.layers.flatMap((_, layer) => normsOf(history, layer)));
  return { loss: largest(...sides.map(({ history }) => history.loss)), norms: largest(...norms.map(({ values }) => values)) };
}

function normsOf(history: Side["history"], layer: number): { name: string; values: ArrayLike<number> }[] {
  return (["w_q", "w_k", "w_v"] as const).flatMap((matrix) => {
    const values = history.gradientNorm(layer, matrix);
    return values === null ? [] : [{ name: matrix.toUpperCase(), values }];
  });
}

export function Plots({ session, runs, side, isLog, tops }: Given): JSX.Element {
  const { history } = side;
  const lang = session.choice.lang.value;
  const layer = Math.min(session.choice.layer.value, history.layers.length - 1);
  const head = Math.min(session.choice.head.value, history.layers[layer].n_heads - 1);
  const plots = useMemo((): PlotGiven[] => {
    const norms = normsOf(history, layer);
    const lines = norms.map(({ name, values }, at): Line => ({ curve: { values, steps: null }, name, look: LOOKS[at] }));
    const loss: Line = { curve: { values: history.loss, steps: null }, name: told("loss", lang), look: "first" };
    return [
      ...(history.loss.length > 0 ? [{ title: told("loss", lang), lines: [loss], high: tops.loss }] : []),
      sharesOf(side, layer, head, lang),
      ...(lines.length > 0 ? [{ title: told("norms", lang, { layer }), lines, high: tops.norms }] : []),
    ];
  }, [history, layer, head, lang, tops]);
  const last = useRef(runs.shown.peek());
  const step = useComputed(() => (last.current = session.unseen.value.has("plots") ? last.current : runs.shown.value));
  return (
    <div class="plots">
      {plots.map((plot) => <Plot key={plot.title} {...plot} runs={runs} step={step} isLog={isLog} lang={lang} />)}
      <Ticks last={runs.steps.at(-1)!} isLog={isLog.value} />
    </div>
  );
}

const LOOKS = ["first", "second", "third"] as const;

/** Accuracy, and each head's mean weight on a role's keys: the chosen head's is the line that is named. */
function sharesOf({ history }: Side, layer: number, head: number, lang: Lang): PlotGiven {
  const { steps, layers, roles, emerged } = history;
  const isRow = history.layers.length === 1 && roles.length === 0;
  const accuracy: Line = {
    curve: { values: history.accuracy, steps }, name: told(isRow ? "nearness" : "accuracy", lang), look: "first",
  };
  const read = roles.flatMap(({ name, values }, role): Line[] => {
    const what = isKnown(name) ? told(`role_${name}`, lang) : told("role", lang, { name });
    const [nLayers, nHeads] = [values.rows, values.width];
    return layers.flatMap((_, at) => Array.from({ length: nHeads }, (__, of): Line => {
      const isChosen = at === layer && of === head;
      const curve = { values: headCurve(values.values, at, of, nLayers, nHeads), steps };
      return { curve, name: isChosen ? told("of_head", lang, { what, layer, head }) : null, look: isChosen ? (LOOKS[role + 1] ?? "third") : "other" };
    }));
  });
  const levels = [
    ...(emerged !== null && !isRow ? [{ at: emerged.chance, name: told("chance", lang) }] : []),
    ...roles.flatMap(({ name, baseline }) => {
      return name === "answer" && baseline !== null ? [{ at: baseline, name: told("baseline", lang) }] : [];
    }),
  ];
  return { title: told("shares", lang), lines: [accuracy, ...read], levels, high: 1 };
}

function isKnown(role: string): role is "answer" | "previous" | "reason" {
  return role === "answer" || role === "previous" || role === "reason";
}

interface Drawn extends PlotGiven {
  readonly runs: Runs;
  /** As it is shown: out of sight, the one that was seen last. */
  readonly step: ReadonlySignal<number>;
  readonly isLog: Signal<boolean>;
  readonly lang: Lang;
}

function Plot({ title, lines, levels = [], high, runs, step, isLog, lang }: Drawn): JSX.Element {
  const last = runs.steps.at(-1)!;
  const axis = useMemo(() => axisOf(last, isLog.value), [last, isLog.value]);
  const named = lines.filter(({ name }) => name !== null);
  const { curve } = named[0];
  const ends = { first: valueAt(curve, 0).value, last: valueAt(curve, last).value, steps: last, what: title };
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <div class="curve-plot">
        <span class="quiet high">{number(Number(high.toPrecision(4)))}</span>
        <span class="quiet low">0</span>
        <Surface runs={runs} isLog={isLog}>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={told("plot", lang, ends)}>
            <Paths lines={lines} levels={levels} high={high} axis={axis} />
            <Marker lines={named} high={high} axis={axis} step={step} />
          </svg>
        </Surface>
      </div>
      <ul class="legend">
        {named.map((line) => <Named key={line.name} line={line} step={step} lang={lang} />)}
        {levels.map(({ name, at }) => <li key={name}><Sample look="level" /> <span>{name} {number(at)}</span></li>)}
        {lines.length > named.length && <li class="quiet"><Sample look="other" /> <span>{told("others", lang)}</span></li>}
      </ul>
    </figure>
  );
}

interface PathsGiven extends Pick<PlotGiven, "lines" | "high"> {
  readonly axis: (step: number) => number;
}

/** They stay as they are while the step moves. */
function Paths({ lines, levels, high, axis }: PathsGiven & { readonly levels: readonly Level[] }): JSX.Element {
  return useMemo(() => (
    <>
      {levels.map(({ at, name }) => (
        <path key={name} class="level" d={`M0 ${HEIGHT * (1 - at / high)}H${WIDTH}`} />
      ))}
      {[...lines].reverse().map(({ curve, look }, at) => <path key={at} class={look} d={pathOf(curve, axis, 0, high)} />)}
    </>
  ), [lines, levels, high, axis]);
}

function Marker({ lines, high, axis, step }: PathsGiven & { readonly step: ReadonlySignal<number> }): JSX.Element {
  const x = WIDTH * axis(step.value);
  const points = lines.map(({ curve, look }) => ({ look, ...valueAt(curve, step.value) }));
  return (
    <>
      <path class="marker" d={`M${x} 0V${HEIGHT}`} />
      {points.map(({ look, value, step: own }, at) => (
        Number.isNaN(value) ? null : <path key={at} class={`${look} dot`} d={`M${WIDTH * axis(own)} ${HEIGHT * (1 - value / (high || 1))}h0.01`} />
      ))}
    </>
  );
}

function Named({ line, step, lang }: { line: Line; step: ReadonlySignal<number>; lang: Lang }): JSX.Element {
  const { value, step: own } = valueAt(line.curve, step.value);
  return (
    <li>
      <Sample look={line.look} />
      <span>
        {line.name} <b>{Number.isNaN(value) ? told("unmeasured", lang) : number(value)}</b>
        {own < step.value && <span class="quiet"> {told("of_step", lang, { step: own })}</span>}
      </span>
    </li>
  );
}

function Sample({ look }: { look: Line["look"] | "level" }): JSX.Element {
  return (
    <svg class="sample" viewBox="0 0 28 8" aria-hidden="true">
      <path class={look} d="M0 4H28" />
    </svg>
  );
}

interface SurfaceGiven extends Pick<Drawn, "runs" | "isLog"> {
  readonly children: JSX.Element;
}

/** Pressing or dragging moves the step; the slider does the same for the keyboard. */
function Surface({ runs, isLog, children }: SurfaceGiven): JSX.Element {
  const surface = useRef<HTMLDivElement>(null);
  const isHeld = useSignal(false);
  const follow = (event: PointerEvent): void => {
    const { left, width } = surface.current!.getBoundingClientRect();
    const last = runs.steps.at(-1)!;
    const step = stepAt((event.clientX - left) / (width || 1), last, isLog.peek());
    const away = runs.steps.map((one) => Math.abs(one - step));
    runs.goTo(away.indexOf(Math.min(...away)));
  };
  return (
    <div
      class="curve-field"
      ref={surface}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        isHeld.value = true;
        follow(event);
      }}
      onPointerMove={(event) => isHeld.peek() && follow(event)}
      onPointerUp={() => (isHeld.value = false)}
      onPointerCancel={() => (isHeld.value = false)}
    >
      {children}
    </div>
  );
}

/** From here on a step's label touches the last one's on a phone. */
const NEAR_END = 0.78;

/** A few round steps under the plots. */
function Ticks({ last, isLog }: { last: number; isLog: boolean }): JSX.Element {
  const axis = axisOf(last, isLog);
  const steps = isLog ? [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000].filter((step) => step < 0.6 * last) : [0, 0.25, 0.5, 0.75].map((share) => Math.round(share * last));
  return (
    <div class="ticks quiet" aria-hidden="true">
      {[...new Set([...steps, last])].map((step) => (
        <span key={step} class={step < last && axis(step) > NEAR_END ? "near" : undefined} style={{ left: `${100 * axis(step)}%` }}>{step.toLocaleString("en")}</span>
      ))}
    </div>
  );
}
