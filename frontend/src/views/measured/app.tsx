/** The page of measured heads: what was measured, the map, the card of a head, the table. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Lang } from "../../engine/record";
import { shown } from "../../explanation/words";
import { COMMON, say } from "../../words";
import { Title } from "../title";
import { HeadCard } from "./card";
import { THEMES, type Choice } from "./choice";
import { HeadMap } from "./map";
import { RoleTable } from "./table";

/** With more heads in a layer, the card stands under the map. */
const BESIDE = 16;
const LANGUAGES: Readonly<Record<Lang, string>> = { ko: "한국어", en: "English" };

export function App({ choice, title }: { choice: Choice; title: string | null }): JSX.Element {
  const lang = choice.lang.value;
  const theme = choice.theme.value;
  const { told } = choice.measured;
  const name = shown(title ?? told.title[lang]);
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => { // before anything is painted: a language that comes later makes all styles anew
    const root = frame.current!.parentElement!;
    root.lang = lang;
    root.dataset.theme = theme;
    document.documentElement.lang = lang;
    document.title = name;
  }, [lang, theme, name]);
  return (
    <div class="frame measured" ref={frame}>
      <header class="top">
        <Title name={name} lang={lang} />
        <p class="under">{told.under[lang]}</p>
        <Tools choice={choice} />
        <div class="overview">{told.overview[lang].map((sentence, at) => <p key={at}>{sentence}</p>)}</div>
      </header>
      <main>
        <div class={Math.max(...told.n_heads) > BESIDE ? "map-and-card wide" : "map-and-card"}>
          <HeadMap choice={choice} />
          <HeadCard choice={choice} />
        </div>
        <RoleTable choice={choice} />
      </main>
    </div>
  );
}

function Tools({ choice }: { choice: Choice }): JSX.Element {
  const lang = choice.lang.value;
  return (
    <div class="tools">
      <div class="choices" role="group" aria-label={say(COMMON, "language", lang)}>
        {(Object.keys(LANGUAGES) as Lang[]).map((one) => (
          <button key={one} type="button" lang={one} aria-pressed={lang === one} onClick={() => (choice.lang.value = one)}>
            {LANGUAGES[one]}
          </button>
        ))}
      </div>
      <label class="theme">
        <span>{say(COMMON, "theme", lang)}</span>
        <select value={choice.theme.value} onChange={({ currentTarget: { value } }) => (choice.theme.value = value as (typeof THEMES)[number])}>
          {THEMES.map((one) => <option key={one} value={one}>{say(COMMON, one, lang)}</option>)}
        </select>
      </label>
      <Link choice={choice} />
    </div>
  );
}

/** The address of what is looked at; where copying is refused, to copy by hand. */
function Link({ choice }: { choice: Choice }): JSX.Element {
  const lang = choice.lang.value;
  const told = useSignal<"linked" | "not_copied" | null>(null);
  const copy = (): void => {
    const copied = navigator.clipboard?.writeText(choice.link()) ?? Promise.reject(new Error("no clipboard"));
    copied.then(() => (told.value = "linked"), () => (told.value = "not_copied"));
  };
  return (
    <div class="choices">
      <button type="button" onClick={copy}>{say(COMMON, "link", lang)}</button>
      <span role="status" class="told">
        {told.value !== null && say(COMMON, told.value, lang)}
        {told.value === "not_copied" && <textarea readOnly rows={2} aria-label={say(COMMON, "link", lang)} value={choice.link()} />}
      </span>
    </div>
  );
}
