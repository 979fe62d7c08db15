/** Beside a weight: what the model does without it, where that is known, and how to know it where it is not. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { cutText, isCutAt, isSame, type Cell, type Cut, type Guesses } from "../../cuts";
import type { Lang } from "../../engine/record";
import { isolated } from "../../isolated";
import { number, percent, shown } from "../../explanation/words";
import type { Session } from "../../state";
import { say } from "../../words";
import css from "./cuts.css";
import { CUTS } from "./words";

/** Only of a model there is something to run again. */
export function CutPanel({ session }: { session: Session }): JSX.Element | null {
  const { cuts, choice, desk } = session;
  const lang = choice.lang.value;
  const isOpen = useSignal(cuts.isLive || cuts.all.peek().length > 0);
  if ((session.layer.value ?? desk.value.document).source.kind !== "model" || session.desks.length > 1) return null;
  const cell: Cell = {
    document: choice.document.value, layer: choice.layer.value, head: choice.head.value,
    query: choice.query.value, key: choice.key.value,
  };
  const here = cuts.all.value.filter((cut) => isCutAt(cut, cell)).sort((a, b) => breadth(a) - breadth(b));
  return (
    <details class="cuts" open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{say(CUTS, "title", lang)}</summary>
      <style>{css}</style>
      <Listed session={session} cell={cell} />
      <div aria-live="polite">
        {here.map((cut, at) => <OneCut key={at} cut={cut} lang={lang} />)}
        {here.length > 0 && <p class="quiet">{say(CUTS, "rounded", lang)}</p>}
        {here.length === 0 && <p>{say(CUTS, "none", lang)}</p>}
      </div>
      {cuts.isLive && <Asking session={session} cell={cell} />}
      {!cuts.isLive && here.length === 0 && <How cell={cell} number={session.desk.value.number(session.choice.layer.value)} lang={lang} />}
    </details>
  );
}

/** One weight before a row or a column, and these before a whole head. */
function breadth({ query, key }: Cut): number {
  return Number(query === null) + Number(key === null);
}

// what came of it ----------------------------------------------------------------------------------

function OneCut({ cut, lang }: { cut: Cut; lang: Lang }): JSX.Element {
  const { kind, guesses } = cut;
  return (
    <>
      <p>{cutText(cut, lang)}</p>
      {!isSame(cut) && guesses.map((one, at) => <Expected key={at} guesses={one} kind={kind} lang={lang} />)}
      {!isSame(cut) && kind === "vectors" && <Moved cut={cut} lang={lang} />}
    </>
  );
}

function Expected({ guesses, kind, lang }: { guesses: Guesses; kind: Cut["kind"]; lang: Lang }): JSX.Element {
  const { position, token, words, moved, logits } = guesses;
  const rows = words.map(({ text, before, after }) => [isolated(shown(text)), number(before), number(after)]);
  return (
    <>
      <Table
        caption={say(CUTS, kind, lang, { position, token: shown(token) })}
        heads={["token", "before", "after"]}
        rows={rows}
        lang={lang}
      />
      <p>{say(CUTS, "moved", lang, { moved: percent(moved), logits: number(logits) })}</p>
    </>
  );
}

function Moved({ cut, lang }: { cut: Cut; lang: Lang }): JSX.Element {
  const rows = cut.changes.map(({ position, token, norm, relative, cosine }) => [
    say(CUTS, "at", lang, { position, token: shown(token) }), number(norm), percent(relative), number(cosine),
  ]);
  const heads = ["token", "norm", "relative", "cosine"];
  return <Table caption={say(CUTS, "vectors", lang)} heads={heads} rows={rows} lang={lang} />;
}

interface TableGiven {
  readonly caption: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly lang: Lang;
}

function Table({ caption, heads, rows, lang }: TableGiven): JSX.Element {
  return (
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>{heads.map((name) => <th key={name} scope="col">{say(CUTS, name, lang)}</th>)}</tr>
      </thead>
      <tbody>
        {rows.map(([name, ...numbers], at) => (
          <tr key={at}>
            <th scope="row">{name}</th>
            {numbers.map((text, column) => <td key={column}>{text}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// how to know it -----------------------------------------------------------------------------------

function How({ cell, number: layer, lang }: { cell: Cell; number: number; lang: Lang }): JSX.Element {
  const { head, query, key } = cell;
  return (
    <>
      <p>{say(CUTS, "how", lang)}</p>
      <code>{`jumok.draw(reading).save("page.html", cuts=[reading.cut(${layer}, ${head}, ${query}, ${key})])`}</code>
      <p>{say(CUTS, "or", lang)}</p>
      <code>{`jumok capture … --cut "${layer}.${head}:#${query}>#${key}" -o page.html`}</code>
    </>
  );
}

function Asking({ session, cell }: { session: Session; cell: Cell }): JSX.Element {
  const { cuts, choice } = session;
  const lang = choice.lang.value;
  const renormalise = useSignal(false);
  const state = cuts.state.value;
  const wrong = cuts.wrong.value;
  return (
    <>
      <p class="choices">
        <button type="button" disabled={state !== "idle"} onClick={() => void cuts.make(cell, renormalise.value)}>
          {say(CUTS, "cut", lang)}
        </button>
        <label>
          <input
            type="checkbox"
            checked={renormalise.value}
            onChange={(event) => (renormalise.value = event.currentTarget.checked)}
          />
          {say(CUTS, "renormalise", lang)}
        </label>
      </p>
      <p class="quiet" role="status">{state !== "idle" && say(CUTS, state, lang)}</p>
      {wrong !== null && isSameCell(wrong.cell, cell) && (
        <p class="wrong" role="alert">{say(CUTS, "wrong", lang, { reason: shown(wrong.text[lang]) })}</p>
      )}
    </>
  );
}

function isSameCell(a: Cell, b: Cell): boolean {
  return (Object.keys(a) as (keyof Cell)[]).every((name) => a[name] === b[name]);
}

// the others ---------------------------------------------------------------------------------------

/** Every cut that is here; choosing one goes to its cell. */
function Listed({ session, cell }: { session: Session; cell: Cell }): JSX.Element | null {
  const { cuts, choice } = session;
  const lang = choice.lang.value;
  if (cuts.all.value.length === 0) return null;
  const go = ({ layer, head, query, key }: Cut): void => {
    session.choose({ layer, head, query: query ?? cell.query, key: key ?? cell.key });
  };
  return (
    <nav aria-label={say(CUTS, "list", lang)}>
      <p class="quiet">{say(CUTS, "list", lang)}</p>
      <ul>
        {cuts.all.value.map((cut, at) => (
          <li key={at}>
            <button type="button" aria-current={isCutAt(cut, cell) ? "true" : undefined} onClick={() => go(cut)}>
              {say(CUTS, "place", lang, { layer: cut.layer, head: cut.head, what: whatOf(cut, lang) })}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function whatOf(cut: Cut, lang: Lang): string {
  const query = cut.query_text === null ? say(CUTS, "every", lang) : shown(cut.query_text);
  const names = { query, key: shown(cut.key_text ?? ""), weight: number(cut.weight ?? 0) };
  const name = say(CUTS, cut.key !== null ? "arrow" : cut.query !== null ? "row" : "head", lang, names);
  return cut.way === "zero" ? name : say(CUTS, cut.way, lang, { name });
}
