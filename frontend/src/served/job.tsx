/** A job: how far it is, what it tells meanwhile, and what came of it. */
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { signal, type Signal } from "@preact/signals";
import type { Lang } from "../engine/record";
import { number, shown } from "../explanation/words";
import { Title } from "../views/title";
import { Declined, isOver, type Job, type Texts } from "./answers";
import { follow, type Happening } from "./events";
import { columnsOf, withStep, type Row, type Step } from "./live";
import { textsOf } from "./model";
import { Bar, stateOf } from "./progress";
import type { Served } from "./served";
import { TextForm } from "./start";
import { Training } from "./training";
import { told, toldOr } from "./words";

/** What was heard of a job. */
export class Following {
  readonly job: Signal<Job | null> = signal(null);
  readonly steps = signal<readonly Step[]>([]);
  readonly rows = signal<readonly Row[]>([]);
  /** Why nothing is heard. */
  readonly trouble = signal<Texts | null>(null);
  isGone = false;

  /** Which start of the server tells: another one tells all of it again. */
  #start: string | null = null;

  constructor(readonly served: Served, readonly id: string) {}

  async begin(signal: AbortSignal): Promise<void> {
    try {
      await follow(this.served.line, `/api/jobs/${this.id}/events`, (happening) => this.take(happening), signal);
    } catch (error) {
      this.isGone = error instanceof Declined && error.status === 404;
      this.trouble.value = textsOf(error);
    }
  }

  /** Whether this was the last. */
  take({ id, event, data }: Happening): boolean {
    const start = id?.split("-")[0] ?? null;
    if (start !== this.#start) this.rows.value = [];
    this.#start = start;
    if (event === "job") {
      this.job.value = data as Job;
      return isOver((data as Job).state);
    }
    if (event === "step") this.#tell(data as Row);
    return false;
  }

  #tell(row: Row): void {
    if (typeof row.step === "number") this.steps.value = withStep(this.steps.peek(), row as unknown as Step);
    else this.rows.value = [...this.rows.peek(), row];
  }
}

interface Given {
  readonly served: Served;
  readonly following: Following;
  /** Called once the job has come to its end. */
  readonly ended: (job: Job) => void;
}

export function JobPage({ served, following, ended }: Given): JSX.Element {
  const lang = served.lang.value;
  const job = following.job.value;
  useEffect(() => {
    const leaving = new AbortController();
    void following.begin(leaving.signal);
    return () => leaving.abort();
  }, [following]);
  const state = job?.state;
  useEffect(() => {
    if (job !== null && isOver(job.state)) ended(job);
  }, [state]);
  // what came of it brings its own main part
  const role = served.model.value === null ? "main" : "region";
  return (
    <div class="view job" role={role} aria-label={role === "region" ? told("progress", lang) : undefined}>
      {following.trouble.value !== null && <Unheard served={served} following={following} why={following.trouble.value} />}
      {job !== null && <Standing served={served} job={job} />}
      {job !== null && served.model.value === null && <Live following={following} job={job} lang={lang} />}
    </div>
  );
}

function Unheard({ served, following, why }: { served: Served; following: Following; why: Texts }): JSX.Element {
  const lang = served.lang.value;
  return (
    <>
      {following.isGone && <h1>{told("job_gone", lang)}</h1>}
      <p role="alert">{why[lang]}</p>
      <p><a href={served.to("/")}>{told("to_start", lang)}</a></p>
    </>
  );
}

function Standing({ served, job }: { served: Served; job: Job }): JSX.Element {
  const lang = served.lang.value;
  const { jobs } = served;
  const isAsked = jobs.asked.value.has(job.id);
  return (
    <div class="job-standing" data-state={job.state}>
      {served.model.value === null && <Title name={shown(job.title[lang])} lang={lang} />}
      <p class="state">{stateOf(job, lang)}</p>
      <Spoken job={job} lang={lang} />
      {!isOver(job.state) && (
        <>
          {job.state === "running" && <Bar job={job} lang={lang} />}
          <button type="button" aria-disabled={isAsked} onClick={() => void jobs.stop(job.id)}>
            {told(isAsked ? "stopping" : "stop", lang)}
          </button>
        </>
      )}
      <End served={served} job={job} />
    </div>
  );
}

/** For those who listen: not every step, but each fifth of the way, and every change. */
function Spoken({ job, lang }: { job: Job; lang: Lang }): JSX.Element {
  const { done = 0, of = null } = job.progress ?? {};
  const fifth = of === null || of <= 0 ? 0 : Math.floor((5 * done) / of);
  const text = useMemo(() => stateOf(job, lang), [job.state, job.ahead, fifth, lang]);
  return <p class="visually-hidden" role="status">{text}</p>;
}

function End({ served, job }: { served: Served; job: Job }): JSX.Element | null {
  const lang = served.lang.value;
  if (job.state === "done") {
    return <p role="status" class="quiet">{told(served.model.value === null ? "bringing" : "result", lang)}</p>;
  }
  if (job.state !== "failed" && job.state !== "stopped") return null;
  const about = served.line.about.value;
  return (
    <>
      {job.error !== null && <p class="wrong" role="alert">{job.error[lang]}</p>}
      {job.kind === "capture" && about !== null && about.model !== null && <TextForm served={served} about={about} rows={6} />}
      {job.made !== null && <p>{told("kept", lang)}</p>}
      {job.made === null && job.state === "stopped" && <p>{told("kept_nothing", lang)}</p>}
      <p><a class="go" href={served.to("/")}>{told("to_start", lang)}</a></p>
    </>
  );
}

function Live({ following, job, lang }: { following: Following; job: Job; lang: Lang }): JSX.Element | null {
  const rows = following.rows.value;
  if (job.kind === "learn") return job.state === "queued" ? null : <Training steps={following.steps.value} lang={lang} />;
  if (rows.length === 0) return null;
  if (job.kind === "capture") return <Layers rows={rows} lang={lang} />;
  if (job.kind === "measure") return <Speed rows={rows} lang={lang} />;
  return <Rows rows={rows} lang={lang} />;
}

function Layers({ rows, lang }: { rows: readonly Row[]; lang: Lang }): JSX.Element | null {
  const { layer, of } = rows.at(-1)!;
  if (typeof layer !== "number" || typeof of !== "number") return null;
  return <p>{told("layer_read", lang, { layer, of })}</p>;
}

function Speed({ rows, lang }: { rows: readonly Row[]; lang: Lang }): JSX.Element | null {
  const { tokens_per_s: speed } = rows.at(-1)!;
  return typeof speed === "number" ? <p class="quiet">{told("speed", lang, { n: Math.round(speed).toLocaleString("en") })}</p> : null;
}

function Rows({ rows, lang }: { rows: readonly Row[]; lang: Lang }): JSX.Element {
  const columns = columnsOf(rows);
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={told("rows", lang)}>
      <table class="rows">
        <caption>{told("rows", lang)}</caption>
        <thead><tr>{columns.map((name) => <th key={name} scope="col">{toldOr(`column_${name}`, name, lang)}</th>)}</tr></thead>
        <tbody>
          {rows.map((row, at) => <tr key={at}>{columns.map((name) => <td key={name}>{cellOf(row[name])}</td>)}</tr>)}
        </tbody>
      </table>
    </div>
  );
}

function cellOf(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? value.toLocaleString("en") : number(value);
  return value === undefined || value === null ? "" : shown(String(value));
}
