/** Walking the stages: the formula with the active part marked, previous, next, play, and what is so at each stage. */
import type { ComponentChildren, JSX } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { MOST_HEADS, sectionsOf, stageSentences } from "../../explanation/explain";
import { number } from "../../explanation/words";
import type { Lang, Stage } from "../../engine/record";
import type { Looking } from "./looking";
import type { Stop } from "./road";
import { told } from "./words";

/** A stage stays as long as this while the walk plays. */
const STAGE_MS = 4000;

interface Part {
  readonly stop: Stop;
  readonly text: ComponentChildren;
  /** Other stages of which this is a part too. */
  readonly also?: readonly Stop[];
}

export function Formula({ looking }: { looking: Looking }): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const stops = looking.stops.value;
  const active = looking.stop.value;
  const part = ({ stop, text, also = [] }: Part): JSX.Element => {
    if (!stops.includes(stop)) return <span class="part">{text}</span>;
    const title = told("go.to", lang, { title: told(titleOf(stops, stop), lang) });
    const isActive = stop === active || also.includes(active);
    return (
      <button type="button" class="part" title={title} aria-pressed={isActive} onClick={() => looking.goTo(stop)}>
        {text}<span class="visually-hidden"> {title}</span>
      </button>
    );
  };
  const last: Stop = stops.includes("output") ? "output" : "mixed";
  return (
    <p class="formula" role="group" aria-label={told("formula", lang)}>
      {stops.includes("x") && <>{part({ stop: "x", text: <i>X</i> })} <span class="road-sign">→</span>{" "}</>}
      {part({ stop: "weights", text: "softmax" })}
      <span>(</span>
      {part({ stop: "q", text: <i>Q</i>, also: ["scores"] })}
      {part({ stop: "scores", text: "·" })}
      {part({ stop: "k", text: <><i>K</i><sup>T</sup></>, also: ["scores"] })}
      {part({ stop: "scaled", text: <Scale looking={looking} /> })}
      {part({ stop: "allowed", text: <>+ <i>M</i></> })}
      <span>)</span>
      {part({ stop: "weighted_values", text: "×", also: ["mixed"] })}
      {part({ stop: "v", text: <i>V</i>, also: ["weighted_values", "mixed"] })}{" "}
      <span class="road-sign">→</span> {part({ stop: last, text: told("title.output", lang) })}
    </p>
  );
}

/** How the scores are scaled, as it stands in the formula. */
function Scale({ looking }: { looking: Looking }): JSX.Element {
  const parts = looking.scaling.value.map(({ kind, by }) => {
    if (kind === "root") return <>/√<i>d</i><sub>k</sub></>;
    return kind === "scale" ? <>× {number(by)}</> : <>/{number(by)}</>;
  });
  return <>{parts}</>;
}

/** The key of a stop's title: where one head's weighted sum is the output, it is called so. */
export function titleOf(stops: readonly Stop[], stage: Stage): string {
  return stage === "mixed" && !stops.includes("output") ? "title.output" : `title.${stage}`;
}

// walking ------------------------------------------------------------------------------------------

export function Walk({ looking }: { looking: Looking }): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const stops = looking.stops.value;
  const stop = looking.stop.value;
  const at = stops.indexOf(stop);
  const playing = looking.playing.value;
  useEffect(() => {
    if (!playing) return;
    const on = (): void => {
      if (at === stops.length - 1) looking.playing.value = false;
      else looking.step(1);
    };
    const timer = setTimeout(on, STAGE_MS);
    return () => clearTimeout(timer);
  }, [playing, stop]);
  const play = (): void => {
    if (!playing && at === stops.length - 1) looking.goTo(stops[0]);
    looking.playing.value = !playing;
  };
  return (
    <div class="walk" role="group" aria-label={told("walk", lang)}>
      <StepButton looking={looking} word="previous" sign="←" keys="[" by={-1} isOff={at === 0} />
      <button type="button" class="play" onClick={play}>
        {told(playing ? "pause" : "play", lang)}
      </button>
      <StepButton looking={looking} word="next" sign="→" keys="]" by={1} isOff={at === stops.length - 1} />
      <span class="quiet">{told("at.stage", lang, { n: at + 1, of: stops.length })}</span>
    </div>
  );
}

interface StepProps {
  readonly looking: Looking;
  readonly word: string;
  readonly sign: string;
  readonly keys: string;
  readonly by: 1 | -1;
  readonly isOff: boolean;
}

function StepButton({ looking, word, sign, keys, by, isOff }: StepProps): JSX.Element {
  const name = told(word, looking.session.choice.lang.value);
  return (
    <button type="button" aria-disabled={isOff} aria-label={name} title={`${name} ${keys}`} onClick={() => looking.step(by)}>
      {sign}
    </button>
  );
}

/** What the active stage is, and what is so there of the chosen query and key. */
export function StageText({ looking }: { looking: Looking }): JSX.Element {
  const { choice, layer } = looking.session;
  const lang = choice.lang.value;
  const stop = looking.stop.value;
  const stops = looking.stops.value;
  const isOutput = stop === "mixed" && titleOf(stops, stop) === "title.output";
  const stages: Stage[] = isOutput ? ["mixed", "output"] : [stop];
  const sentences = stages.flatMap((stage) => {
    return stageSentences(layer.value!, stage, choice.head.value, choice.query.value, choice.key.value, lang);
  });
  const n = stops.indexOf(stop) + 1;
  return (
    <section class="stage-text">
      <h2><span class="step-number">{n}</span> {told(titleOf(stops, stop), lang)}</h2>
      {[...new Set(sentences)].map((sentence) => <p key={sentence}>{sentence}</p>)}
    </section>
  );
}

/** All of `jumok explain` for the chosen query, made when it is asked for. */
export function WholeExplanation({ looking }: { looking: Looking }): JSX.Element {
  const isOpen = useSignal(false);
  const lang = looking.session.choice.lang.value;
  return (
    <details class="whole" open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{told("whole", lang, { token: looking.asking.value })}</summary>
      {isOpen.value && <Sections looking={looking} lang={lang} />}
    </details>
  );
}

function Sections({ looking, lang }: { looking: Looking; lang: Lang }): JSX.Element {
  const { desk, desks, choice, layer } = looking.session;
  const made = desk.value.made.value;
  const other = desks.find((one) => one !== desk.value)?.made.value ?? null;
  const layers = made ?? [layer.value!];
  const isMany = layers.reduce((n, { q }) => n + q.heads, 0) > MOST_HEADS;
  const only = isMany ? { layer: made ? choice.layer.value : 0, head: choice.head.value } : null;
  const sections = sectionsOf(layers, choice.query.value, lang, made && other, undefined, only);
  return (
    <>
      {sections.map(({ title, lines }, at) => (
        <section key={at}>
          <h3>{title}</h3>
          <Lines lines={lines} />
        </section>
      ))}
    </>
  );
}

/** Sentences, and lists of those that are entries. */
function Lines({ lines }: { lines: readonly (readonly [boolean, string])[] }): JSX.Element {
  const runs: { isList: boolean; texts: string[] }[] = [];
  for (const [isEntry, text] of lines) {
    if (runs.at(-1)?.isList !== isEntry) runs.push({ isList: isEntry, texts: [] });
    runs.at(-1)!.texts.push(text);
  }
  return (
    <>
      {runs.map(({ isList, texts }, at) => {
        if (isList) return <ul key={at}>{texts.map((text, n) => <li key={n}>{text}</li>)}</ul>;
        return texts.map((text, n) => <p key={`${at}.${n}`}>{text}</p>);
      })}
    </>
  );
}
