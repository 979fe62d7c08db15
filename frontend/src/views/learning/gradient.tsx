/** Why a weight moves: one entry of W_Q, W_K or W_V, and its gradient as the sum of outer products that it is. */
import type { JSX } from "preact";
import type { Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { backwardsOf, ofProjection, outerTerms, type Backwards, type OuterTerm } from "../../engine/gradients";
import type { History, Move } from "../../engine/history";
import type { Lang, Layer, Table } from "../../engine/record";
import { number } from "../../explanation/words";
import { TokenText } from "../tokens";
import type { Moment } from "./matrices";
import type { Side } from "./run";
import { digits, told } from "./words";

export const TRAINED = ["w_q", "w_k", "w_v"] as const;
export const SPOTS = ["moved", "steepest"] as const;

/** Which entry is explained: of one matrix the one that moved most, or the one with the largest gradient. */
export interface Asked {
  readonly matrix: Signal<(typeof TRAINED)[number]>;
  readonly spot: Signal<(typeof SPOTS)[number]>;
  readonly isOpen: Signal<boolean>;
}

/** An entry of a matrix, and where its gradient comes from. */
export interface Why {
  readonly layer: Layer;
  readonly matrix: Asked["matrix"]["value"];
  readonly row: number;
  readonly column: number;
  /** The entry that moved most until the next snapshot, and over how many steps; null after the last. */
  readonly move: (Move & { readonly to: number; readonly steps: number }) | null;
  /** One a token, largest first; empty where the gradient does not reach this matrix. */
  readonly terms: readonly OuterTerm[];
  /** The step went exactly against this gradient. */
  readonly isPlain: boolean;
}

/** null where it is not asked for, and where the run kept no gradient. */
export function useWhy(side: Side, asked: Asked, moment: Moment): Why | null {
  const { at, layer, snapshot, probe } = moment;
  const [matrix, spot, isOpen] = [asked.matrix.value, asked.spot.value, asked.isOpen.value];
  return useMemo(() => {
    const upstream = isOpen ? side.history.upstream(at, probe, snapshot) : null;
    if (!layer.x || !layer.heads || !upstream) return null;
    return whyOf(side.history, moment, backwardsOf(layer, upstream), matrix, spot);
  }, [layer, snapshot, matrix, spot, isOpen]);
}

function whyOf(
  history: History, { at, layer, snapshot }: Moment, backwards: Backwards,
  matrix: Why["matrix"], spot: (typeof SPOTS)[number],
): Why {
  const [step, to] = history.steps.slice(snapshot, snapshot + 2);
  const move = history.moved(at, matrix, snapshot);
  const of = backwards[PARTS[matrix]];
  const whole = of && ofProjection(layer.x!, of);
  const { row, column } = spot === "moved" && move !== null ? move : largestIn(whole ?? layer.heads![matrix]);
  const terms = whole?.values.some((value) => value !== 0) ? outerTerms(layer.x!, of!, row, column) : [];
  const after = to === step + 1 ? history.weight(at, matrix, snapshot + 1) : null;
  return {
    layer, matrix, row, column,
    move: move && { ...move, to, steps: to - step },
    terms: terms.sort((a, b) => Math.abs(b.product) - Math.abs(a.product)),
    isPlain: after !== null && isAgainst(layer.heads![matrix], after, whole, history.learningRate),
  };
}

const PARTS = { w_q: "q", w_k: "k", w_v: "v" } as const;
/** A move that differs by no more from −(learning rate) × gradient is that. */
const SAME = 1e-3;

function isAgainst(before: Table, after: Table, gradient: Table | null, learningRate: number | null): boolean {
  if (gradient === null || learningRate === null) return false;
  return gradient.values.every((slope, at) => {
    const expected = -learningRate * slope;
    return Math.abs(after.values[at] - before.values[at] - expected) <= 1e-12 + SAME * Math.abs(expected);
  });
}

function largestIn({ columns, values }: Table): { row: number; column: number } {
  let most = 0;
  for (let at = 1; at < values.length; at += 1) if (Math.abs(values[at]) > Math.abs(values[most])) most = at;
  return { row: Math.floor(most / columns), column: most % columns };
}

interface Given {
  readonly side: Side;
  readonly asked: Asked;
  readonly why: Why | null;
  readonly step: number;
  readonly lang: Lang;
}

export function Gradient({ side, asked, why, step, lang }: Given): JSX.Element | null {
  if (side.history.upstream(0, 0, 0) === null) return null;
  const { matrix, spot, isOpen } = asked;
  return (
    <details class="why" open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{told("why", lang)}</summary>
      {why !== null && (
        <>
          <p class="options">
            <Choose of={TRAINED} at={matrix} name={told("of_matrix", lang)} text={(one) => one.toUpperCase()} />
            <Choose of={SPOTS} at={spot} name={told("entry", lang)} text={(one) => told(one, lang)} />
          </p>
          <Moved why={why} lang={lang} />
          <Sum why={why} lang={lang} />
          <Reason why={why} learningRate={side.history.learningRate} lang={lang} />
          <p class="quiet">
            {told("all_of_it", lang)}{" "}
            <code>{`jumok explain run.safetensors --step ${step} --gradient`}</code>
          </p>
        </>
      )}
    </details>
  );
}

interface ChooseGiven<T extends string> {
  readonly of: readonly T[];
  readonly at: Signal<T>;
  readonly name: string;
  readonly text: (one: T) => string;
}

function Choose<T extends string>({ of, at, name, text }: ChooseGiven<T>): JSX.Element {
  return (
    <label>
      {name}{" "}
      <select value={at.value} onChange={(event) => (at.value = event.currentTarget.value as T)}>
        {of.map((one) => <option key={one} value={one}>{text(one)}</option>)}
      </select>
    </label>
  );
}

interface SaidGiven {
  readonly why: Why;
  readonly lang: Lang;
}

/** The texts of this part and the next two are those of src/jumok/explanation/gradient.py. */
function Moved({ why: { layer, matrix, move }, lang }: SaidGiven): JSX.Element {
  const name = matrix.toUpperCase();
  if (move === null) return <p>{told("last_one", lang)}</p>;
  const change = move.after - move.before;
  if (change === 0) return <p>{told("still", lang, { matrix: name })}</p>;
  const data = { matrix: name, row: rowName(layer, move.row), column: move.column + 1 };
  const sizes = { before: digits(move.before), after: digits(move.after), change: (change > 0 ? "+" : "") + digits(change) };
  return (
    <p>
      {told("moved_most", lang, { ...data, ...sizes })}
      {move.steps > 1 && ` ${told("until", lang, { n: move.steps, to: move.to })}`}
    </p>
  );
}

/** So many tokens are told one by one. */
const FEW = 5;

/** The entry's gradient, token by token. */
function Sum({ why: { layer, matrix, row, column, terms }, lang }: SaidGiven): JSX.Element {
  const [name, part] = [matrix.toUpperCase(), PARTS[matrix]];
  if (terms.length === 0) return <p>{told("none", lang, { matrix: name })}</p>;
  const width = layer[part]!.width;
  const place = { matrix: name, part, row: rowName(layer, row), column: column + 1 };
  const ofHead = { part, head: Math.floor(column / width), column: (column % width) + 1 };
  const n = Math.min(FEW, terms.filter(({ product }) => product !== 0).length);
  const [most, rest] = [terms.slice(0, n), terms.slice(n)];
  return (
    <>
      <p>{told("outer", lang, place)}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{told("token", lang)}</th>
            <th scope="col">{told("x_in", lang, place)}</th>
            <th scope="col">{told("slope", lang, ofHead)}</th>
            <th scope="col">{told("product", lang, place)}</th>
          </tr>
        </thead>
        <tbody>
          {most.map(({ token, x, gradient, product }) => (
            <tr key={token}>
              <th scope="row"><span class="quiet">#{token}</span> <TokenText token={layer.tokens[token]} /></th>
              <td>{number(x)}</td>
              <td>{number(gradient)}</td>
              <td>{number(product)}</td>
            </tr>
          ))}
          {rest.length > 0 && <Total name={told("others_sum", lang, { n: rest.length })} terms={rest} />}
        </tbody>
        <tfoot><Total name={told("entry_sum", lang, place)} terms={terms} /></tfoot>
      </table>
    </>
  );
}

function Total({ name, terms }: { name: string; terms: readonly OuterTerm[] }): JSX.Element {
  return (
    <tr>
      <th scope="row" colSpan={3}>{name}</th>
      <td>{number(sumOf(terms))}</td>
    </tr>
  );
}

function sumOf(terms: readonly OuterTerm[]): number {
  return terms.reduce((sum, { product }) => sum + product, 0);
}

function Reason({ why: { terms, move, isPlain }, learningRate, lang }: SaidGiven & { learningRate: number | null }): JSX.Element | null {
  if (move === null) return null;
  if (!isPlain) return <p>{told("batch", lang)}</p>;
  const gradient = number(sumOf(terms));
  return <p>{told("plain", lang, { learning_rate: learningRate!, gradient: gradient.startsWith("-") ? `(${gradient})` : gradient })}</p>;
}

function rowName({ dimensions }: Layer, row: number): string | number {
  return dimensions?.[row] ?? row;
}
