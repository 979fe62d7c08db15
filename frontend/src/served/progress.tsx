/** How far a job has come: in words, and as a bar. */
import type { JSX } from "preact";
import type { Lang } from "../engine/record";
import type { Job, Progress } from "./answers";
import { told, toldOr } from "./words";

export function Bar({ job, lang }: { job: Job; lang: Lang }): JSX.Element {
  const { done = 0, of = null } = job.progress ?? {};
  const share = of === null || of <= 0 ? undefined : done / of;
  return <progress aria-label={`${told("progress", lang)}: ${job.title[lang]}`} value={share} max={1} />;
}

/** "running · 120 of 300 steps · about 12 s left" */
export function stateOf(job: Job, lang: Lang): string {
  if (job.state === "queued") return job.ahead ? told("queued", lang, { n: job.ahead }) : told("queued_next", lang);
  if (job.state !== "running" || job.progress === null) return told(job.state, lang);
  return [told("running", lang), ...farOf(job.progress, lang)].join(" · ");
}

function farOf({ done, of, unit, left_s: left }: Progress, lang: Lang): string[] {
  const name = unit === null ? "" : typeof unit === "string" ? toldOr(`unit_${unit}`, unit, lang) : unit[lang];
  const far = of === null ? told("so_far", lang, { done: count(done), unit: name }) : told("of", lang, { done: count(done), of: count(of), unit: name });
  return [far.trim(), ...(left === null ? [] : [leftOf(left, lang)])];
}

function leftOf(seconds: number, lang: Lang): string {
  const whole = Math.max(1, Math.round(seconds));
  return whole < 90 ? told("left_s", lang, { n: whole }) : told("left_min", lang, { n: Math.round(whole / 60) });
}

function count(n: number): string {
  return n.toLocaleString("en");
}
