/** Every role of every head, a page at a time: ordered by any column, filtered by role, layer and verdict. */
import type { JSX } from "preact";
import type { Lang } from "../../engine/record";
import { say } from "../../words";
import { PER_PAGE, type Choice } from "./choice";
import { inLanguage, nameOf, VERDICTS, type Verdict } from "./measured";
import { grouped, NumberCells, NUMBERS } from "./numbers";
import type { Sort } from "./order";
import { MEASURED } from "./words";

const COLUMNS: readonly Sort[] = ["card", "role", ...NUMBERS];

export function RoleTable({ choice }: { choice: Choice }): JSX.Element {
  const lang = choice.lang.value;
  const { measured, page: { value: page }, rows: { value: rows } } = choice;
  const shown = rows.subarray(page * PER_PAGE, (page + 1) * PER_PAGE);
  return (
    <section class="all-rows" aria-labelledby="table-title">
      <h2 id="table-title">{say(MEASURED, "table", lang)}</h2>
      <Filters choice={choice} />
      <Pages choice={choice} />
      <div class="scrolls" tabIndex={0} role="region" aria-labelledby="table-title">
        <table class="numbers" aria-describedby="table-help">
          <thead><tr>{COLUMNS.map((name) => <Heading key={name} choice={choice} name={name} lang={lang} />)}</tr></thead>
          <tbody>
            {Array.from(shown, (row) => (
              <tr key={row} class={measured.columns.card[row] === choice.card.value ? "chosen" : undefined}>
                <th scope="row"><HeadName choice={choice} card={measured.columns.card[row]} lang={lang} /></th>
                <td class="said">{inLanguage(measured.told.roles[measured.columns.role[row]].title, lang)}</td>
                <NumberCells measured={measured} row={row} lang={lang} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p id="table-help" class="quiet">{say(MEASURED, "table_help", lang)}</p>
    </section>
  );
}

function HeadName({ choice, card, lang }: { choice: Choice; card: number; lang: Lang }): JSX.Element {
  const one = choice.measured.told.cards[card];
  const { layer, head } = one;
  return (
    <button type="button" class="plain" aria-label={say(MEASURED, "open", lang, { layer, head })} onClick={() => (choice.card.value = card)}>
      {nameOf(one)}
    </button>
  );
}

function Heading({ choice, name, lang }: { choice: Choice; name: Sort; lang: Lang }): JSX.Element {
  const isSorted = choice.sort.value === name;
  const isDown = choice.isDown.value;
  return (
    <th scope="col" aria-sort={isSorted ? (isDown ? "descending" : "ascending") : undefined}>
      <button type="button" class="plain" onClick={() => choice.sortBy(name)}>
        {say(MEASURED, `column_${name}`, lang)}
        <span aria-hidden="true">{isSorted ? (isDown ? " ▼" : " ▲") : ""}</span>
      </button>
    </th>
  );
}

function Filters({ choice }: { choice: Choice }): JSX.Element {
  const lang = choice.lang.value;
  const { n_heads } = choice.measured.told;
  const put = (change: () => void): void => {
    change();
    choice.page.value = 0;
  };
  const verdict = (to: string): Verdict | null => (to === "" ? null : (to as Verdict));
  return (
    <div class="filters">
      <label>
        {say(MEASURED, "layer", lang)}{" "}
        <select value={choice.layer.value} onChange={({ currentTarget: { value } }) => put(() => (choice.layer.value = Number(value)))}>
          <option value={-1}>{say(MEASURED, "every_layer", lang)}</option>
          {n_heads.map((_, layer) => <option key={layer} value={layer}>{say(MEASURED, "layer_short", lang, { layer })}</option>)}
        </select>
      </label>
      <label>
        {say(MEASURED, "verdict", lang)}{" "}
        <select value={choice.verdict.value ?? ""} onChange={({ currentTarget: { value } }) => put(() => (choice.verdict.value = verdict(value)))}>
          <option value="">{say(MEASURED, "every_verdict", lang)}</option>
          {VERDICTS.map((one) => <option key={one} value={one}>{say(MEASURED, one, lang)}</option>)}
        </select>
      </label>
    </div>
  );
}

function Pages({ choice }: { choice: Choice }): JSX.Element {
  const lang = choice.lang.value;
  const [page, n, last] = [choice.page.value, choice.rows.value.length, choice.nPages - 1];
  const from = page * PER_PAGE;
  const said = { from: grouped(from + 1), to: grouped(Math.min(n, from + PER_PAGE)), n: grouped(n) };
  const turn = (name: string, sign: string, to: number): JSX.Element => {
    const title = say(MEASURED, name, lang);
    const isOff = to === page || to < 0 || to > last; // and keeps the focus, which a disabled button would lose
    return (
      <button type="button" aria-disabled={isOff} aria-label={title} title={title} onClick={() => isOff || (choice.page.value = to)}>
        {sign}
      </button>
    );
  };
  return (
    <nav class="pages" aria-label={say(MEASURED, "pages", lang)}>
      {turn("first", "«", 0)}
      {turn("before", "‹", page - 1)}
      <span role="status">{say(MEASURED, n === 0 ? "found_none" : "found", lang, said)}</span>
      {turn("after", "›", page + 1)}
      {turn("last", "»", last)}
    </nav>
  );
}
