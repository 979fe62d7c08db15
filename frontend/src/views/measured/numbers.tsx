/** The numbers of a role of a head, as the cells of a row. */
import type { JSX } from "preact";
import type { Lang } from "../../engine/record";
import { number } from "../../explanation/words";
import { say } from "../../words";
import type { Measured } from "./measured";
import type { Sort } from "./order";
import { MEASURED } from "./words";

/** In the order of `NumberCells`. */
export const NUMBERS = [
  "score", "with_sink", "without_sink", "n_cases", "baseline", "difference", "low", "way", "q", "verdict",
] as const satisfies readonly Sort[];

export function NumberHeads({ lang }: { lang: Lang }): JSX.Element {
  return <>{NUMBERS.map((name) => <th key={name} scope="col">{say(MEASURED, `column_${name}`, lang)}</th>)}</>;
}

export function NumberCells({ measured, row, lang }: { measured: Measured; row: number; lang: Lang }): JSX.Element {
  const { columns, told } = measured;
  const counts = { n: grouped(columns.n_cases[row]), sentences: grouped(columns.n_sentences[row]) };
  const ends = { low: number(columns.low[row]), high: number(columns.high[row]) };
  const verdict = measured.verdict(row);
  return (
    <>
      <td>{orNone(columns.score[row])}</td>
      <td>{orNone(columns.with_sink[row])}</td>
      <td>{orNone(columns.without_sink[row])}</td>
      <td title={say(MEASURED, "cases_title", lang, counts)}>{say(MEASURED, "cases", lang, counts)}</td>
      <td>{orNone(columns.baseline[row])} <span class="rule">{told.rules[columns.rule[row]][lang]}</span></td>
      <td>{orNone(columns.difference[row])}</td>
      <td>{say(MEASURED, "interval", lang, ends)}</td>
      <td>{orNone(columns.way[row])}</td>
      <td>{orNone(columns.q[row])}</td>
      <td class={`said ${verdict}`}>{say(MEASURED, verdict, lang)}</td>
    </>
  );
}

function orNone(value: number): string {
  return Number.isNaN(value) ? "–" : number(value);
}

const THOUSANDS = new Intl.NumberFormat("en");

/** 12345 → 12,345, in either language. */
export function grouped(whole: number): string {
  return THOUSANDS.format(whole);
}
