/** One fold in numbers: what was kept, what it is multiplied by, what each key adds, what is kept then. */
import type { JSX } from "preact";
import { valueOf, type Fold as Folded, type Folding, type Kept } from "../../engine/folding";
import { namesOf, rowOf } from "../../engine/path";
import type { Lang, Layer } from "../../engine/record";
import { number, shown } from "../../explanation/words";
import { TokenText } from "../tokens";
import { told } from "./words";

const MOST_KEYS = 12;
const MOST_COLUMNS = 8;
const NOTHING = "–";

interface Of {
  readonly layer: Layer;
  readonly head: number;
  readonly lang: Lang;
}

export function Fold({ fold, ...of }: Of & { fold: Folded }): JSX.Element {
  const { layer, head, lang } = of;
  const { before, after, rescale } = fold;
  const tokens = layer.keyTokens ?? layer.tokens;
  const keys = Array.from({ length: fold.to - fold.from }, (_, at) => fold.from + at);
  const some = keys.slice(0, MOST_KEYS);
  return (
    <Table {...of} caption={told("numbers", lang)}>
      <KeptRow name={told("before", lang)} kept={before} layer={layer} />
      {before.top !== null && after.top !== null && (
        <Row name={told("rescaled", lang, { old: number(before.top), new: bracketed(after.top), rescale: number(rescale) })} score=""
          sum={number(before.total * rescale)} values={before.mixed?.map((sum) => sum * rescale)} layer={layer} />
      )}
      {some.map((key) => {
        const at = fold.read.indexOf(key);
        const name = <TokenText token={tokens[key]} />;
        if (at < 0) return <Row key={key} name={name} score={told("hidden", lang)} sum={NOTHING} layer={layer} />;
        const values = valueOf(layer, head, key)?.map((value) => value * fold.exps[at]);
        return <Row key={key} name={name} score={number(fold.scores[at])} sum={number(fold.exps[at])} values={values} layer={layer} />;
      })}
      {keys.length > some.length && <Rest fold={fold} n={keys.length - some.length} after={some[some.length - 1]} of={of} />}
      <KeptRow name={told("after", lang)} kept={after} layer={layer} isLast />
    </Table>
  );
}

/** The keys of a wide tile that are not told one by one, in sum. */
function Rest({ fold, n, after, of: { layer, head, lang } }: { fold: Folded; n: number; after: number; of: Of }): JSX.Element {
  let sum = 0;
  const values = layer.v && new Float64Array(layer.v.width);
  let top = -Infinity;
  fold.read.forEach((key, at) => {
    if (key <= after) return;
    sum += fold.exps[at];
    top = Math.max(top, fold.scores[at]);
    valueOf(layer, head, key)?.forEach((value, column) => (values![column] += fold.exps[at] * value));
  });
  const score = top === -Infinity ? told("hidden", lang) : `≤ ${number(top)}`;
  return <Row name={told("rest", lang, { n })} score={score} sum={number(sum)} values={values ?? undefined} layer={layer} />;
}

/** After the last tile: what was summed, divided; and beside it the row of full attention. */
export function End({ folding, query, ...of }: Of & { folding: Folding; query: number }): JSX.Element {
  const { layer, head, lang } = of;
  const last = folding.folds[folding.folds.length - 1].after;
  const full = rowOf(layer, head, query).mixed;
  const { mixed } = folding;
  const apart = full && mixed ? Math.max(...full.map((value, at) => Math.abs(value - mixed[at]))) : null;
  return (
    <Table {...of} caption={told("numbers", lang)}>
      <KeptRow name={told("last", lang)} kept={last} layer={layer} />
      <Row name={told("row", lang)} score="" sum="" values={mixed ?? undefined} layer={layer} isLast />
      {apart !== null && (
        <Row name={`${told("full", lang)} (${told("apart", lang, { apart: number(apart) })})`} score="" sum="" values={full!} layer={layer} />
      )}
    </Table>
  );
}

interface TableGiven extends Of {
  readonly caption: string;
  readonly children: unknown;
}

function Table({ layer, lang, caption, children }: TableGiven): JSX.Element {
  const width = layer.v?.width ?? 0;
  const names = namesOf(layer, "v");
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">{told("score", lang)}</th>
            <th scope="col">e^(s − m)</th>
            {width > 0 && <th scope="colgroup" colSpan={Math.min(width, MOST_COLUMNS + 1)}>{told("value", lang)}</th>}
          </tr>
          <tr class="small">
            <td />
            <th scope="col">{told("largest", lang)}</th>
            <th scope="col">{told("sum", lang)}</th>
            {columnsOf(layer).map((at) => <th key={at} scope="col">{names ? <bdi>{shown(names[at])}</bdi> : at + 1}</th>)}
            {width > MOST_COLUMNS && <td>…</td>}
          </tr>
        </thead>
        <tbody>{children as JSX.Element}</tbody>
      </table>
    </div>
  );
}

function KeptRow({ name, kept, layer, isLast = false }: { name: string; kept: Kept; layer: Layer; isLast?: boolean }): JSX.Element {
  const score = kept.top === null ? NOTHING : number(kept.top);
  return <Row name={name} score={score} sum={number(kept.total)} values={kept.mixed ?? undefined} layer={layer} isKept isLast={isLast} />;
}

interface RowGiven {
  readonly name: JSX.Element | string;
  readonly score: string;
  readonly sum: string;
  /** Left out: this row has none. */
  readonly values?: Float64Array | undefined;
  readonly layer: Layer;
  readonly isKept?: boolean;
  readonly isLast?: boolean;
}

function Row({ name, score, sum, values, layer, isKept = false, isLast = false }: RowGiven): JSX.Element {
  return (
    <tr class={isLast ? "last" : isKept ? "kept" : undefined}>
      <th scope="row">{name}</th>
      <td>{score}</td>
      <td>{sum}</td>
      {columnsOf(layer).map((column) => <td key={column}>{values ? number(values[column]) : NOTHING}</td>)}
      {(layer.v?.width ?? 0) > MOST_COLUMNS && <td />}
    </tr>
  );
}

/** The first dimensions of the values. */
function columnsOf({ v }: Layer): number[] {
  return Array.from({ length: Math.min(v?.width ?? 0, MOST_COLUMNS) }, (_, at) => at);
}

function bracketed(value: number): string {
  const text = number(value);
  return text.startsWith("-") ? `(${text})` : text;
}
