/** The program of the pages that `jumok serve` shows, built into static/served.js. What is seen of a record is drawn by jumok.js. */
import { render } from "preact";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import pageCss from "../look/page.css";
import { COMMON, say } from "../words";
import { Declined, jsonOf, type Job } from "./answers";
import { Bar } from "./bar";
import { Following, JobPage } from "./job";
import { Lessons } from "./lessons";
import { browser, Line } from "./line";
import { drawRecord } from "./record";
import { Served, type Told } from "./served";
import css from "./served.css";
import { Start, TextPage } from "./start";

function App({ served }: { served: Served }): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const [lang, theme] = [served.lang.value, served.theme.value];
  useEffect(() => {
    const root = frame.current!.parentElement!;
    root.lang = lang;
    root.dataset.theme = theme;
  }, [lang, theme]);
  return <div class="frame" ref={frame}><Bar served={served} /><View served={served} /></div>;
}

function View({ served }: { served: Served }): JSX.Element | null {
  switch (served.told.view) {
    case "start": return <Start served={served} />;
    case "text": return <TextPage served={served} />;
    case "lessons": return <Lessons served={served} />;
    case "job": return <JobOf served={served} />;
    default: return null;
  }
}

function JobOf({ served }: { served: Served }): JSX.Element {
  const following = useMemo(() => new Following(served, served.window.location.pathname.split("/").pop()!), [served]);
  return <JobPage served={served} following={following} ended={(job) => void showMade(served, job)} />;
}

/** What a job made, on the page on which it was waited for. */
async function showMade(served: Served, { made }: Job): Promise<void> {
  if (made === null) return;
  const text = await served.line.again(async () => {
    const response = await served.line.ask(served.to(made));
    if (!response.ok) await jsonOf(response);
    return response.text();
  });
  const told = toldIn(new DOMParser().parseFromString(text, "text/html"));
  if (told?.view === "record") await drawRecord(served, told);
  else if (told?.view !== "job") served.window.location.reload();
}

function toldIn(page: Document): Told | null {
  const text = page.getElementById("jumok-served")?.textContent;
  return text ? (JSON.parse(text) as Told) : null;
}

function failed(root: HTMLElement, error: unknown, lang: "en" | "ko"): void {
  const said = root.ownerDocument.createElement("p");
  const reason = error instanceof Declined ? error.texts[lang] : error instanceof Error ? error.message : String(error);
  said.setAttribute("role", "alert");
  said.className = "notice is-lost";
  said.textContent = say(COMMON, "failed", lang, { reason });
  root.append(said);
}

async function begin(page: HTMLElement): Promise<void> {
  const root = page.ownerDocument.createElement("div");
  const style = page.ownerDocument.createElement("style");
  style.textContent = pageCss + css;
  root.className = "jumok served";
  page.append(style, root);
  const told = toldIn(document)!;
  const served = new Served(new Line(browser(window)), told, window);
  render(<App served={served} />, root);
  void served.line.returned();
  void served.jobs.watch();
  try {
    if (told.view === "record") await drawRecord(served, told);
  } catch (error) {
    failed(root, error, served.lang.peek());
  }
  page.dataset.ready = "true";
}

const page = document.getElementById("served");
if (page !== null) void begin(page);
