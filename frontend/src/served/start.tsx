/** The start page: what this server can do, and nothing else. */
import type { ComponentChildren, JSX } from "preact";
import { useSignal } from "@preact/signals";
import { shown } from "../explanation/words";
import { inOne, type About, type Entry } from "./answers";
import { Choice, Field, JobForm, textOf, useDraft, wholeOf } from "./form";
import type { Served } from "./served";
import { told } from "./words";

/** Sentences: with fewer a measuring says nothing (src/jumok/measurement/roles/table.py). */
const ENOUGH = 10;

interface Given {
  readonly served: Served;
}

interface Knowing extends Given {
  readonly about: About;
}

export function Start({ served }: Given): JSX.Element {
  const lang = served.lang.value;
  const about = served.line.about.value;
  return (
    <main class="view start">
      <h1>{told("welcome", lang)}</h1>
      <p class="under quiet">{told("welcome_under", lang)}</p>
      {about === null ? <p role="status">{told("asking_server", lang)}</p> : <Cards served={served} about={about} />}
    </main>
  );
}

function Cards({ served, about }: Knowing): JSX.Element {
  const lang = served.lang.value;
  return (
    <>
      {about.files.length > 0 && <Card title={told("files", lang)}><Entries served={served} entries={about.files} /></Card>}
      <div class="cards">
        <LessonCard served={served} about={about} />
        {about.model !== null && <TextCard served={served} about={about} />}
        {about.tasks.length > 0 && <TrainCard served={served} about={about} />}
        {about.missing.learn && <Card title={told("train", lang)}><p>{inOne(about.missing.learn, lang)}</p></Card>}
        {about.model !== null && <MeasureCard served={served} about={about} />}
        <CostCard served={served} />
      </div>
      <Card title={told("examples", lang)} under={told("examples_under", lang)}>
        <Entries served={served} entries={about.examples} />
      </Card>
    </>
  );
}

interface CardGiven {
  readonly title: string;
  readonly under?: string;
  readonly children: ComponentChildren;
}

function Card({ title, under, children }: CardGiven): JSX.Element {
  return (
    <section class="card">
      <h2>{title}</h2>
      {under !== undefined && <p class="quiet">{under}</p>}
      {children}
    </section>
  );
}

function Entries({ served, entries }: Given & { entries: readonly Entry[] }): JSX.Element {
  const lang = served.lang.value;
  return (
    <ul class="entries">
      {entries.map(({ name, title, href }) => (
        <li key={name}>
          <a href={served.to(href)}>
            <span>{shown(inOne(title, lang))}</span>
            {inOne(title, lang) !== name && <span class="quiet">{shown(name)}</span>}
          </a>
        </li>
      ))}
    </ul>
  );
}

function LessonCard({ served, about }: Knowing): JSX.Element {
  const lang = served.lang.value;
  return (
    <Card title={told("lessons", lang)} under={told("lessons_under", lang)}>
      {about.allow_code && <p>{told("lessons_code", lang)}</p>}
      <p><a class="go" href={served.to("/lessons")}>{told("lessons_open", lang)}</a></p>
    </Card>
  );
}

function TextCard({ served, about }: Knowing): JSX.Element {
  const lang = served.lang.value;
  return (
    <Card title={told("text", lang)} under={told("text_under", lang, { name: shown(about.model!.name) })}>
      <TextForm served={served} about={about} rows={3} />
    </Card>
  );
}

export function TextForm({ served, about, rows }: Knowing & { rows: number }): JSX.Element {
  const lang = served.lang.value;
  const text = useDraft(served, "text");
  const limit = about.model!.limit;
  const hint = limit === null ? null : told("text_limit", lang, { n: limit.toLocaleString("en") });
  return (
    <JobForm served={served} go="text_go" asked={() => ({ kind: "capture", text: textOf(text.value) })}>
      <Field label={told("text_label", lang)} value={text} rows={rows} hint={hint} />
    </JobForm>
  );
}

function TrainCard({ served, about }: Knowing): JSX.Element {
  const lang = served.lang.value;
  const task = useSignal(about.tasks[0].name);
  const steps = useSignal("");
  const seed = useSignal("0");
  const asked = () => ({
    kind: "learn",
    task: task.value,
    ...(steps.value.trim() === "" ? {} : { steps: wholeOf(steps.value, "steps", 1) }),
    seed: wholeOf(seed.value, "seed", 0),
  });
  return (
    <Card title={told("train", lang)} under={told("train_under", lang)}>
      <JobForm served={served} go="train_go" asked={asked}>
        <Choice label={told("task", lang)} value={task} options={about.tasks.map(({ name, title }) => [name, inOne(title, lang)])} />
        <Field label={told("steps", lang)} value={steps} inputMode="numeric" />
        <Field label={told("seed", lang)} value={seed} inputMode="numeric" />
      </JobForm>
    </Card>
  );
}

function MeasureCard({ served, about }: Knowing): JSX.Element {
  const lang = served.lang.value;
  const text = useDraft(served, "sentences");
  const asked = () => {
    const isGiven = about.corpus && text.value.trim() === "";
    return { kind: "measure", ...(isGiven ? {} : { text: textOf(text.value) }) };
  };
  return (
    <Card title={told("measure", lang)} under={told("measure_under", lang, { name: shown(about.model!.name) })}>
      <JobForm served={served} go="measure_go" asked={asked}>
        <Field label={told(about.corpus ? "measure_own" : "measure_text", lang)} value={text} rows={3} hint={told("measure_few", lang, { n: ENOUGH })} />
      </JobForm>
    </Card>
  );
}

function CostCard({ served }: Given): JSX.Element {
  const lang = served.lang.value;
  const n = useSignal("512:4096");
  const d = useSignal("64");
  const heads = useSignal("8");
  const asked = () => ({ kind: "cost", n: textOf(n.value), d: wholeOf(d.value, "cost_d", 1), heads: wholeOf(heads.value, "cost_heads", 1) });
  return (
    <Card title={told("cost", lang)} under={told("cost_under", lang)}>
      <JobForm served={served} go="cost_go" asked={asked}>
        <Field label={told("cost_n", lang)} value={n} />
        <Field label={told("cost_d", lang)} value={d} inputMode="numeric" />
        <Field label={told("cost_heads", lang)} value={heads} inputMode="numeric" />
      </JobForm>
    </Card>
  );
}

/** A page of its own for a long text. */
export function TextPage({ served }: Given): JSX.Element {
  const lang = served.lang.value;
  const about = served.line.about.value;
  return (
    <main class="view">
      <h1>{told("text", lang)}</h1>
      {about?.model ? (
        <>
          <p class="quiet">{told("text_under", lang, { name: shown(about.model.name) })}</p>
          <TextForm served={served} about={about} rows={10} />
        </>
      ) : <p role="status">{told("asking_server", lang)}</p>}
    </main>
  );
}
