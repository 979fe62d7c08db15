/** The course: its lessons, and how much of each was done in this browser. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Kept } from "../views/lesson/kept";
import type { Served } from "./served";
import { told } from "./words";

export function Lessons({ served }: { served: Served }): JSX.Element {
  const lang = served.lang.value;
  const kept = useMemo(() => new Kept(() => served.window.localStorage), []);
  const doneIn = (lesson: string): number => new Set(kept.done.value.filter((one) => one.lesson === lesson).map(({ id }) => id)).size;
  return (
    <main class="view">
      <h1>{told("lessons", lang)}</h1>
      <p class="quiet">{told("lessons_under", lang)}</p>
      <ol class="entries lessons">
        {(served.told.lessons ?? []).map(({ number, name, title, minutes }) => {
          const n = doneIn(name);
          return (
            <li key={name} value={number}>
              <a href={served.to(`/lessons/${number}`)}>
                <span>{number}. {title[lang]}</span>
                <span class="quiet">
                  {told("minutes", lang, { n: minutes })}{n > 0 && ` · ${told("lesson_done", lang, { n })}`}
                </span>
              </a>
            </li>
          );
        })}
      </ol>
    </main>
  );
}
