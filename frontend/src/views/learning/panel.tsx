/** Above the views: the slider over training steps, the curves, the weights, and what emerged in sentences. */
import type { JSX } from "preact";
import { batch, useSignal, useSignalEffect, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { snapshotAt } from "../../engine/history";
import type { Lang } from "../../engine/record";
import { number, shown } from "../../explanation/words";
import { isolated } from "../../isolated";
import type { Session } from "../../state";
import { valueAt } from "./curves";
import css from "./learning.css";
import type { Asked } from "./gradient";
import { Matrices, type Shows } from "./matrices";
import { Plots, topsOf } from "./plots";
import { chooseProbe, type Runs, type Side } from "./run";
import { told } from "./words";

/** A snapshot stays as long as this while the training plays; where motion is unwelcome, longer, and fewer are shown. */
const SNAPSHOT_MS = 120;
const CALM_MS = 1000;
const CALM_SNAPSHOTS = 20;
/** So long after the last step all tables follow, those out of sight too; so many pixels around the screen count as seen. */
const REST_MS = 200;
const MARGIN = 100;
const NONE: ReadonlySet<string> = new Set();

/** What is told at once; the rest when it is asked for. */
const OPEN: ReadonlySet<string> = new Set(["emerged", "form"]);

interface Given {
  readonly session: Session;
  readonly runs: Runs;
}

export function Panel({ session, runs }: Given): JSX.Element {
  const lang = session.choice.lang.value;
  const isAlone = runs.sides.length === 1;
  const shows = useSignal<Shows>("now");
  const isLog = useSignal(runs.moments.some(({ step }) => step < runs.steps.at(-1)! / 20));
  const tops = useMemo(() => topsOf(runs), [runs]);
  const asked: Asked = { matrix: useSignal("w_q"), spot: useSignal("moved"), isOpen: useSignal(isAlone) };
  const panel = useRef<HTMLElement>(null);
  useSignalEffect(() => runs.markChanges());
  useLayoutEffect(() => waiting(session, runs, panel.current!.parentElement!), [session, runs]);
  return (
    <>
    <style>{css}</style>
    <Slider session={session} runs={runs} />
    <section class="learning" aria-label={told("title", lang)} ref={panel}>
      <div class={runs.sides.length > 1 ? "sides two" : "sides"}>
        {runs.sides.map((side, at) => (
          <section key={at} class="side" aria-label={side.name || told("title", lang)}>
            {side.name !== "" && <h2>{shown(side.name)}</h2>}
            <ProbePicker session={session} side={side} lang={lang} />
            <div class="parts">
              <div>
                <Plots session={session} runs={runs} side={side} isLog={isLog} tops={tops} />
                {isAlone && <Options runs={runs} isLog={isLog} lang={lang} />}
                {isNew(runs, side) && <Told session={session} side={side} isAlone={isAlone} />}
              </div>
              <Matrices session={session} side={side} shows={shows} asked={asked} />
            </div>
          </section>
        ))}
      </div>
      {!isAlone && <Options runs={runs} isLog={isLog} lang={lang} />}
    </section>
    </>
  );
}

/** While the step moves only what is in sight is drawn; the rest follows when it rests. Gives how to end that. */
function waiting(session: Session, runs: Runs, frame: Element): () => void {
  let [drawn, timer] = [0, 0];
  const rest = (): void => batch(() => {
    runs.isMoving.value = false;
    session.unseen.value = NONE;
  });
  const stop = (): void => {
    cancelAnimationFrame(drawn);
    clearTimeout(timer);
  };
  runs.leaving = () => {
    runs.isMoving.value = true;
    session.unseen.value = outOfSight(frame);
    stop();
    // From the frame on, not before: on a busy machine the rest would else be due as soon as a slow step is drawn.
    drawn = requestAnimationFrame(() => (timer = window.setTimeout(rest, REST_MS)));
  };
  return stop;
}

/** What waits while the slider moves, each by the name of its stage or its class. */
const PARTS = "table[data-stage], .plots, .matrices, .arrows, .top-keys, .follow";

/** The parts that nobody sees now; of two with one name, both. */
function outOfSight(frame: Element): ReadonlySet<string> {
  const parts = [...frame.querySelectorAll<HTMLElement>(PARTS)];
  const nameOf = ({ dataset, className }: HTMLElement): string => dataset.stage ?? className;
  const isSeen = (part: HTMLElement): boolean => {
    const { top, bottom } = part.getBoundingClientRect();
    return bottom > -MARGIN && top < innerHeight + MARGIN;
  };
  const seen = new Set(parts.filter(isSeen).map(nameOf));
  return new Set(parts.map(nameOf).filter((name) => !seen.has(name)));
}

/** A run beside itself is told once. */
function isNew({ sides }: Runs, side: Side): boolean {
  return sides.find(({ history }) => history === side.history) === side;
}

function Check({ text, isOn, turn }: { text: string; isOn: boolean; turn: (on: boolean) => void }): JSX.Element {
  return (
    <label>
      <input type="checkbox" checked={isOn} onChange={(event) => turn(event.currentTarget.checked)} /> {text}
    </label>
  );
}

// the slider ---------------------------------------------------------------------------------------

function Slider({ session, runs }: Given): JSX.Element {
  const lang = session.choice.lang.value;
  const at = runs.at.value;
  const last = runs.steps.length - 1;
  const names = { step: runs.shown.value, steps: runs.steps[last] };
  const { isPlaying, turn } = usePlay(runs);
  const go = (to: number): void => {
    isPlaying.value = false;
    runs.goTo(to);
  };
  return (
    <div class="learning-slider" role="group" aria-label={told("title", lang)}>
      <button type="button" aria-pressed={isPlaying.value} onClick={turn}>
        {told(isPlaying.value ? "pause" : "play", lang)}
      </button>
      <button type="button" class="one" aria-disabled={at === 0} aria-label={told("before", lang)} title={told("before", lang)} onClick={() => go(at - 1)}>‹</button>
      <input
        type="range" min={0} max={last} step={1} value={at}
        aria-label={told("step", lang)}
        aria-valuetext={told("spoken", lang, { ...names, values: valuesOf(runs, lang) })}
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <button type="button" class="one" aria-disabled={at === last} aria-label={told("after", lang)} title={told("after", lang)} onClick={() => go(at + 1)}>›</button>
      <output>{told("step_of", lang, names)}</output>
      {runs.moments.map(({ name, step }) => (
        <button key={name} type="button" onClick={() => go(snapshotAt(runs.steps, step))}>
          {told(name === "" ? "change" : "change_of", lang, { name, step })}
        </button>
      ))}
    </div>
  );
}

/** "loss 1.234, accuracy 0.53", of each side. */
function valuesOf({ sides, shown: step }: Runs, lang: Lang): string {
  const of = ({ history: { steps, loss, accuracy }, name }: Side): string => {
    const curves = { loss: { values: loss, steps: null }, accuracy: { values: accuracy, steps } } as const;
    const said = (["loss", "accuracy"] as const).flatMap((what) => {
      const { value, step: own } = valueAt(curves[what], step.value);
      if (Number.isNaN(value)) return [];
      return `${told(what, lang)} ${number(value)}${own < step.value ? ` ${told("of_step", lang, { step: own })}` : ""}`;
    });
    return [name.split(":")[0], ...said].filter(Boolean).join(" ");
  };
  return sides.map(of).join(", ");
}

/** From where it stands, or from the start where it stands at the end. */
function usePlay(runs: Runs) {
  const isPlaying = useSignal(false);
  const last = runs.steps.length - 1;
  useEffect(() => {
    if (!isPlaying.value) return undefined;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const by = isCalm ? Math.ceil(last / CALM_SNAPSHOTS) : 1;
    const timer = setInterval(() => {
      runs.goTo(runs.at.peek() + by);
      if (runs.at.peek() === last) isPlaying.value = false;
    }, isCalm ? CALM_MS : SNAPSHOT_MS);
    return () => clearInterval(timer);
  }, [isPlaying.value, runs]);
  const turn = (): void => {
    if (!isPlaying.peek() && runs.at.peek() === last) runs.goTo(0);
    isPlaying.value = !isPlaying.peek();
  };
  return { isPlaying, turn };
}

// what is looked at, what is told ------------------------------------------------------------------

function ProbePicker({ session, side, lang }: { session: Session; side: Side; lang: Lang }): JSX.Element | null {
  const { history: { probes }, probe, name } = side;
  if (probes.length < 2) return null;
  return (
    <label class="probe">
      <span>{told("probe", lang)}</span>{" "}
      <select
        value={probe.value}
        aria-label={name === "" ? undefined : told("probe_of", lang, { name })}
        onChange={(event) => chooseProbe(session, side, Number(event.currentTarget.value))}
      >
        {probes.map(({ tokens, answer }, at) => (
          <option key={at} value={at}>
            {tokens.map(({ label }) => isolated(shown(label.text))).join(" ") + (answer === null ? "" : ` → ${isolated(shown(answer))}`)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What came of it, in the sentences that Python made, and the way to the head that carries it. */
function Told({ session, side: { history }, isAlone }: { session: Session; side: Side; isAlone: boolean }): JSX.Element {
  const lang = session.choice.lang.value;
  const carrier = history.emerged?.carrier;
  return (
    <div class="outcome">
      {(history.told[lang] ?? []).map(({ name, title, lines }) => (
        <details key={name} open={isAlone && OPEN.has(name)}>
          <summary>{title === "" ? told("title", lang) : shown(title)}</summary>
          {lines.map((line, of) => <p key={of}>{shown(line)}</p>)}
        </details>
      ))}
      {carrier && (
        <button type="button" onClick={() => session.choose({ layer: carrier[0], head: carrier[1] })}>
          {told("carrier", lang, { layer: carrier[0], head: carrier[1] })}
        </button>
      )}
    </div>
  );
}

interface OptionsGiven {
  readonly runs: Runs;
  readonly isLog: Signal<boolean>;
  readonly lang: Lang;
}

/** How it is shown, and what has to be known of what is shown. */
function Options({ runs: { sides, steps, marking }, isLog, lang }: OptionsGiven): JSX.Element {
  const rounded = sides.filter(({ history }) => history.storage !== "exact").map(({ history }) => history.error);
  return (
    <>
      <p class="options">
        <Check text={told("log", lang)} isOn={isLog.value} turn={(on) => (isLog.value = on)} />
        <Check text={told("mark", lang)} isOn={marking.value} turn={(on) => (marking.value = on)} />
      </p>
      <p class="quiet">
        {told("snapshots", lang, { n: steps.length })} {rounded.length > 0 && told("rounded", lang, { error: Math.max(...rounded) })}
      </p>
    </>
  );
}
