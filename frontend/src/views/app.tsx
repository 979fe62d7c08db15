/** The frame: title, switches, the token strip, and the view that is chosen. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { number, shown } from "../explanation/words";
import { isolated } from "../isolated";
import type { Lang, Source } from "../engine/record";
import { toYaml } from "../engine/yaml";
import type { Session, View } from "../state";
import { THEMES, VIEWS } from "../state";
import { COMMON, FRAME, say } from "../words";
import { CompareView } from "./compare/compare";
import { HeadsView } from "./heads/heads";
import { MapView } from "./map/map";
import { StageView } from "./stages/stages";
import { Title } from "./title";

const SHOWING: Record<View, (given: { session: Session }) => JSX.Element> = {
  stages: StageView,
  heads: HeadsView,
  map: MapView,
  compare: CompareView,
};

/** The others show what is here before the layer is. */
const NEEDS_LAYER: ReadonlySet<View> = new Set<View>(["stages", "map"]);

export function App({ session }: { session: Session }): JSX.Element {
  const lang = session.choice.lang.value;
  const view = session.choice.view.value;
  const theme = session.choice.theme.value;
  const name = named(session, lang);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const root = frame.current!.parentElement!;
    root.lang = lang;
    root.dataset.theme = theme;
    if (root.parentElement?.id !== "jumok-page") return;
    root.ownerDocument.documentElement.lang = lang;
    root.ownerDocument.title = name;
  }, [lang, theme, name]);
  const Showing = SHOWING[view];
  return (
    <div class="frame" ref={frame} onKeyDown={(event) => undoing(event, session)}>
      <Header session={session} name={name} />
      {session.extended && <session.extended.Panel session={session} />}
      <main id="jumok-view" class={`view view-${view}`}>
        {NEEDS_LAYER.has(view) && session.isComing.value ? (
          <p role="status">{say(FRAME, "coming", lang)}</p>
        ) : (
          <Showing session={session} />
        )}
      </main>
      <Rounding session={session} />
    </div>
  );
}

/** What this page is called: as somebody named it, or both documents, in a language. */
function named(session: Session, lang: Lang): string {
  const names = session.desks.map(({ document: { title, source } }) =>
    isolated(shown(title?.[lang] || title?.en || source.details.sentence || source.name || say(FRAME, "title", lang))),
  );
  return session.title?.[lang] ?? [...new Set(names)].join(" / ");
}

function Header({ session, name }: { session: Session; name: string }): JSX.Element {
  const lang = session.choice.lang.value;
  return (
    <header class="top">
      <Title name={name} lang={lang} />
      {session.isUnread.value && <p role="alert">{say(FRAME, "unread", lang)}</p>}
      {[...new Set(session.desks.flatMap(({ document }) => doubts(document.source, lang)))].map((text) => (
        <p key={text} class="doubt" role="note">{text}</p>
      ))}
      <div class="tools">
        <Views session={session} />
        <Switches session={session} />
        <Editing session={session} />
      </div>
    </header>
  );
}

/** What a reader has to know before any number: that the model could not read the text, or some of its layers. */
function doubts({ details: { unreadable, refused } }: Source, lang: Lang): string[] {
  const first = Array.isArray(refused) && refused[0]; // a file may say anything
  const lost = first && say(FRAME, "refused", lang, { n: refused!.length, module: first.module, why: first[lang] });
  return [unreadable?.[lang], lost].filter((text) => typeof text === "string");
}

/** The views that this document has: editing needs x, two documents can be compared. */
function Views({ session }: { session: Session }): JSX.Element {
  const { lang, view } = session.choice;
  const has = VIEWS.filter((name) => name !== "compare" || session.desks.length > 1);
  return (
    <nav class="choices" aria-label={say(FRAME, "views", lang.value)}>
      {has.map((name) => (
        <button
          key={name}
          type="button"
          aria-current={view.value === name ? "page" : undefined}
          onClick={() => session.choose({ view: name })}
        >
          {say(FRAME, name, lang.value)}
        </button>
      ))}
    </nav>
  );
}

function Switches({ session }: { session: Session }): JSX.Element {
  const { lang, theme } = session.choice;
  const names: Record<Lang, string> = { en: "English", ko: "한국어" };
  return (
    <>
      <div class="choices" role="group" aria-label={say(COMMON, "language", lang.value)}>
        {(["ko", "en"] as const).map((one) => (
          <button key={one} type="button" lang={one} aria-pressed={lang.value === one} onClick={() => session.choose({ lang: one })}>
            {names[one]}
          </button>
        ))}
      </div>
      <label class="theme">
        <span>{say(COMMON, "theme", lang.value)}</span>
        <select value={theme.value} onChange={(event) => session.choose({ theme: event.currentTarget.value as (typeof THEMES)[number] })}>
          {THEMES.map((one) => (
            <option key={one} value={one}>
              {say(COMMON, one, lang.value)}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

function Editing({ session }: { session: Session }): JSX.Element | null {
  const lang = session.choice.lang.value;
  const desk = session.desk.value;
  const told = useSignal<{ text: string; toCopy: string | null } | null>(null);
  const sheet = desk.sheet.value;
  const copy = (text: string, done: string): void => {
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
    copied.then(
      () => (told.value = { text: done, toCopy: null }),
      () => (told.value = { text: say(COMMON, "not_copied", lang), toCopy: text }),
    );
  };
  return (
    <div class="choices editing" role="group" aria-label={say(FRAME, "editing", lang)}>
      {sheet !== null && (
        <>
          <button type="button" aria-disabled={!desk.past.value.length} onClick={() => desk.undo()}>
            {say(FRAME, "undo", lang)}
          </button>
          <button type="button" aria-disabled={!desk.future.value.length} onClick={() => desk.redo()}>
            {say(FRAME, "redo", lang)}
          </button>
          <button type="button" aria-disabled={sheet === desk.original} onClick={() => desk.reset()}>
            {say(FRAME, "reset", lang)}
          </button>
          <button type="button" onClick={() => copy(toYaml(sheet), say(FRAME, "filed", lang))}>
            {say(FRAME, "file", lang)}
          </button>
        </>
      )}
      {session.hasAddress && (
        <button type="button" onClick={() => copy(session.link()!, say(COMMON, "linked", lang))}>
          {say(COMMON, "link", lang)}
        </button>
      )}
      <div role="status" class="told">
        {told.value !== null && (
          <>
            <span>{told.value.text}</span>
            {told.value.toCopy !== null && (
              <>
                <textarea readOnly aria-label={told.value.text} rows={6} value={told.value.toCopy} />
                <button type="button" onClick={() => (told.value = null)}>
                  {say(FRAME, "close", lang)}
                </button>
              </>
            )}
          </>
        )}
      </div>
    </div>
  );
}

/** What the numbers lost on their way, where they did. */
function Rounding({ session }: { session: Session }): JSX.Element | null {
  const { document } = session.desk.value;
  if (document.storage === "exact") return null;
  const error = number(Math.max(...document.facts.flatMap((facts) => facts.error)));
  const rows = Math.min(...document.facts.map((facts) => facts.error_rows ?? facts.n_queries));
  const isSome = rows < document.facts[0].n_queries;
  return <footer class="rounding">{say(FRAME, isSome ? "rounded_some" : "rounded", session.choice.lang.value, { error, rows })}</footer>;
}

/** Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y), except inside a text field, which has its own. */
function undoing(event: KeyboardEvent, session: Session): void {
  const isTyping = event.target instanceof Element && event.target.matches("textarea, input:not([type=checkbox], [type=range])");
  if (!(event.ctrlKey || event.metaKey) || isTyping) return;
  const name = event.key.toLowerCase();
  if (name !== "z" && name !== "y") return;
  event.preventDefault();
  const desk = session.desk.value;
  if (name === "y" || event.shiftKey) desk.redo();
  else desk.undo();
}
