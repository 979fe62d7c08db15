/** The end of a lesson: what was reached, and what was done taken along, or brought from elsewhere. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import type { Goal } from "./lesson";
import type { Sitting } from "./sitting";
import { Command, mathy } from "./text";
import { told } from "./words";

export function Goals({ sitting }: { sitting: Sitting }): JSX.Element {
  const lang = sitting.lang.value;
  return (
    <section class="goals" aria-labelledby="lesson-goals">
      <h2 id="lesson-goals">{told("goals", lang)}</h2>
      <p class="quiet">{told("ticked", lang)}</p>
      <ul>{sitting.lesson.goals.map((goal, at) => <GoalLine key={at} goal={goal} sitting={sitting} />)}</ul>
    </section>
  );
}

function GoalLine({ goal, sitting: { kept, lang: { value: lang } } }: { goal: Goal; sitting: Sitting }): JSX.Element {
  const all = goal.blocks.length;
  const n = goal.blocks.filter(([lesson, id]) => kept.has(lesson, id, "right")).length;
  const isReached = all > 0 && n === all;
  return (
    <li class={goal.is_here ? "here" : undefined} data-reached={isReached}>
      <span class="tick" role="img" aria-label={told(isReached ? "goal_done" : "goal_open", lang)}>
        {isReached ? "✓" : ""}
      </span>
      <span>{mathy(goal.text[lang])} <span class="quiet">{told("n_of", lang, { n, all })}</span></span>
    </li>
  );
}

export function ProgressPart({ sitting }: { sitting: Sitting }): JSX.Element {
  const { kept, lesson, lang: { value: lang } } = sitting;
  const said = useSignal("");
  const bring = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const n = kept.bring(await file.text());
    said.value = n === null ? told("no_progress", lang) : told("brought", lang, { n });
  };
  return (
    <section class="progress" aria-labelledby="lesson-progress">
      <h2 id="lesson-progress">{told("progress", lang)}</h2>
      <p role={kept.isRefused.value ? "alert" : undefined}>{told(kept.isRefused.value ? "refused" : "kept", lang)}</p>
      <div class="asked">
        <button type="button" onClick={() => save(`${lesson.name}-progress.json`, kept.exported())}>
          {told("export", lang)}
        </button>
        <label class="file">
          <span>{told("bring", lang)}</span>
          <input
            type="file"
            accept=".json,application/json"
            onChange={(event) => void bring(event.currentTarget.files?.[0])}
          />
        </label>
        <span role="status">{said.value}</span>
      </div>
      <p class="quiet">{told("terminal", lang)}</p>
      <Command command={lesson.command} />
    </section>
  );
}

function save(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
