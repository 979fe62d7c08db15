/** Above every page: the way home, language and colours, one's jobs, and how it stands with the server. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Lang } from "../engine/record";
import { shown } from "../explanation/words";
import { COMMON, say } from "../words";
import { isOver, type Job } from "./answers";
import { Bar as ProgressBar, stateOf } from "./progress";
import { THEMES, type Served, type Theme } from "./served";
import { told } from "./words";

interface Given {
  readonly served: Served;
}

const LANGUAGES: Readonly<Record<Lang, string>> = { ko: "한국어", en: "English" };
const NOTICE_MS = 10_000;

export function Bar({ served }: Given): JSX.Element {
  const lang = served.lang.value;
  return (
    <div class="over">
      <nav class="bar" aria-label={told("pages", lang)}>
        <a class="home" href={served.to("/")}>주목 <span lang="en">jumok</span></a>
        <a href={served.to("/lessons")}>{told("lessons", lang)}</a>
        <JobList served={served} />
        {served.model.value === null && !served.hasOwnSwitches && <Switches served={served} />}
      </nav>
      <Notices served={served} />
    </div>
  );
}

/** A record that is shown has these itself. */
function Switches({ served }: Given): JSX.Element {
  const lang = served.lang.value;
  return (
    <div class="switches">
      <div class="choices" role="group" aria-label={say(COMMON, "language", lang)}>
        {(Object.keys(LANGUAGES) as Lang[]).map((one) => (
          <button key={one} type="button" lang={one} aria-pressed={lang === one} onClick={() => served.speak(one)}>
            {LANGUAGES[one]}
          </button>
        ))}
      </div>
      <label class="theme">
        <span>{say(COMMON, "theme", lang)}</span>
        <select value={served.theme.value} onChange={({ currentTarget: { value } }) => (served.theme.value = value as Theme)}>
          {THEMES.map((one) => <option key={one} value={one}>{say(COMMON, one, lang)}</option>)}
        </select>
      </label>
    </div>
  );
}

// jobs ---------------------------------------------------------------------------------------------

function JobList({ served }: Given): JSX.Element {
  const lang = served.lang.value;
  const { all, open } = served.jobs;
  const n = open.value.length;
  const isOpen = useSignal(false);
  const list = useRef<HTMLDetailsElement>(null);
  useEffect(() => leaving(list.current!, () => (isOpen.value = false)), []);
  return (
    <details class="jobs" ref={list} open={isOpen.value} onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>{n > 0 ? told("jobs_open", lang, { n }) : told("jobs", lang)}</summary>
      <div class="panel">
        {all.value.length === 0 && <p>{told("no_jobs", lang)}</p>}
        <ul>{all.value.map((job) => <JobLine key={job.id} job={job} served={served} />)}</ul>
      </div>
    </details>
  );
}

/** A list that lies over the page closes when somebody goes elsewhere, or presses Escape. */
function leaving(list: HTMLDetailsElement, close: () => void): () => void {
  const { ownerDocument: page } = list;
  const elsewhere = ({ target }: Event): void => {
    if (!list.contains(target as Node)) close();
  };
  const pressed = ({ key }: KeyboardEvent): void => {
    if (key !== "Escape" || !list.open) return;
    const hadFocus = list.contains(page.activeElement);
    close();
    if (hadFocus) list.querySelector("summary")!.focus();
  };
  page.addEventListener("pointerdown", elsewhere);
  page.addEventListener("focusin", elsewhere);
  page.addEventListener("keydown", pressed);
  return () => {
    page.removeEventListener("pointerdown", elsewhere);
    page.removeEventListener("focusin", elsewhere);
    page.removeEventListener("keydown", pressed);
  };
}

function JobLine({ job, served }: Given & { job: Job }): JSX.Element {
  const lang = served.lang.value;
  const { jobs } = served;
  const title = shown(job.title[lang]);
  const isAsked = jobs.asked.value.has(job.id);
  return (
    <li data-state={job.state}>
      <a href={served.to(`/jobs/${job.id}`)}>{title}</a>
      <span class="quiet">{stateOf(job, lang)}</span>
      {isOver(job.state) ? <Removal job={job} served={served} /> : (
        <button type="button" aria-disabled={isAsked} aria-label={told("stop_it", lang, { title })} onClick={() => void jobs.stop(job.id)}>
          {told(isAsked ? "stopping" : "stop", lang)}
        </button>
      )}
      {job.state === "running" && <ProgressBar job={job} lang={lang} />}
    </li>
  );
}

/** It asks once more, on a line of its own: whoever presses or clicks again where Stop or Delete was, keeps the job. */
function Removal({ job, served }: Given & { job: Job }): JSX.Element {
  const lang = served.lang.value;
  const { jobs } = served;
  const title = shown(job.title[lang]);
  const isAsked = jobs.asked.value.has(job.id);
  const step = useSignal<"none" | "asked" | "kept">("none");
  const asks = step.value === "asked";
  const first = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (step.value !== "none") first.current!.focus(); // not every browser does that at a click
  }, [asks]);
  const remove = async ({ currentTarget }: { currentTarget: HTMLElement }): Promise<void> => {
    const after = nextTo(currentTarget.closest("li")!);
    await jobs.remove(job.id);
    if (jobs.gone.peek().has(job.id)) after.focus();
  };
  return (
    <>
      <button
        ref={first}
        type="button"
        aria-label={told(asks ? "keep_it" : "remove_it", lang, { title })}
        onClick={() => (step.value = asks ? "kept" : "asked")}
      >
        {told(asks ? "keep" : "remove", lang)}
      </button>
      {asks && (
        <button
          type="button"
          class="sure"
          aria-disabled={isAsked}
          aria-label={told("remove_sure_it", lang, { title })}
          onClick={(event) => void remove(event)}
        >
          {told(isAsked ? "removing" : "remove_sure", lang)}
        </button>
      )}
    </>
  );
}

/** Where the focus goes when a line goes: to the next one, or the one before it, or the title of the list. */
function nextTo(line: HTMLElement): HTMLElement {
  const other = line.nextElementSibling ?? line.previousElementSibling;
  return other?.querySelector("a") ?? line.closest("details")!.querySelector("summary")!;
}

// what is said -------------------------------------------------------------------------------------

function Notices({ served }: Given): JSX.Element {
  const lang = served.lang.value;
  const { jobs, model } = served;
  const brought = model.value?.trouble;
  return (
    <>
      <div class="notices" role="status">
        <Standing served={served} />
        <News served={served} />
        <Deleted served={served} />
      </div>
      <div class="notices" role="alert">
        {jobs.trouble.value !== null && <Notice text={jobs.trouble.value[lang]} lang={lang} close={() => (jobs.trouble.value = null)} />}
        {brought?.value && <Notice text={brought.value[lang]} lang={lang} close={() => (brought.value = null)} />}
      </div>
    </>
  );
}

function Standing({ served: { line, lang: { value: lang } } }: Given): JSX.Element | null {
  const standing = line.standing.value;
  useEffect(() => {
    if (standing !== "back") return undefined;
    const gone = setTimeout(() => (line.standing.value = "here"), NOTICE_MS);
    return () => clearTimeout(gone);
  }, [standing]);
  if (line.refusal.value !== null) return <p class="notice is-lost">{told("refused", lang, { reason: line.refusal.value[lang] })}</p>;
  if (standing === "here") return null;
  const said = standing === "lost" ? "lost" : line.isRestarted.value ? "restarted" : "back";
  return <p class={`notice is-${standing}`} data-standing={standing}>{told(said, lang)}</p>;
}

/** A job that came to its end while its owner looked at something else. */
function News({ served }: Given): JSX.Element | null {
  const { jobs, lang: { value: lang }, window } = served;
  const job = jobs.news.value;
  if (job === null || window.location.pathname === `/jobs/${job.id}`) return null;
  const said = told(job.state === "done" ? "news_done" : "news_failed", lang, { title: shown(job.title[lang]) });
  return (
    <p class="notice">
      {said} <a href={served.to(`/jobs/${job.id}`)}>{told("look", lang)}</a>
      <button type="button" onClick={() => (jobs.news.value = null)}>{told("close", lang)}</button>
    </p>
  );
}

/** The job whose page this is was deleted, in another tab or here. */
function Deleted({ served }: Given): JSX.Element | null {
  const { jobs, lang: { value: lang }, window } = served;
  const [, id] = /^\/jobs\/([^/]+)$/.exec(window.location.pathname) ?? [];
  if (id === undefined || !jobs.gone.value.has(id)) return null;
  return <p class="notice is-lost">{told("deleted", lang)} <a href={served.to("/")}>{told("to_start", lang)}</a></p>;
}

function Notice({ text, lang, close }: { text: string; lang: Lang; close: () => void }): JSX.Element {
  return <p class="notice is-lost">{text} <button type="button" onClick={close}>{told("close", lang)}</button></p>;
}
