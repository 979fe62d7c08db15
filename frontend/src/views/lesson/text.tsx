/** Text as Python made it: runs of letters; numbers that say what gives them. */
import type { JSX } from "preact";
import type { Lang } from "../../engine/record";
import { fill, number, shown } from "../../explanation/words";
import type { Value } from "../../engine/expressions";
import type { Entry, Part, Piece, Span, Text } from "./lesson";

/** What an expression in a question gives for the numbers that were drawn. */
export type Compute = (expression: string) => Value;

interface Given {
  readonly text: Text;
  readonly lang: Lang;
  readonly compute?: Compute;
}

export function Runs({ text, lang, compute }: Given): JSX.Element {
  return <>{text.map((span, at) => <Run key={at} span={span} lang={lang} compute={compute} />)}</>;
}

function Run({ span: [kind, parts, href], lang, compute }: { span: Span; lang: Lang; compute?: Compute }): JSX.Element {
  if (kind === "code") return <code>{parts.map((part) => textOf(part, lang, compute))}</code>;
  const inner = joined(parts, lang, compute).map(seen);
  if (kind === "strong") return <strong>{inner}</strong>;
  if (kind === "em") return <em>{inner}</em>;
  return kind === "link" ? <a href={href} rel="noreferrer">{inner}</a> : <>{inner}</>;
}

type Seen = string | Extract<Part, { value: string }>;

/** What was drawn put into the letters around it: an exponent may stand on both. */
function joined(parts: readonly Part[], lang: Lang, compute?: Compute): Seen[] {
  const all: Seen[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (typeof part !== "string" && "value" in part) all.push(part);
    else if (typeof last === "string") all[all.length - 1] = last + textOf(part, lang, compute);
    else all.push(textOf(part, lang, compute));
  }
  return all;
}

function seen(part: Seen, at: number): JSX.Element {
  if (typeof part === "string") return <span key={at}>{mathy(part)}</span>;
  return <data key={at} value={part.value} title={part.from}>{part.value}</data>;
}

/** A part as letters. */
function textOf(part: Part, lang: Lang, compute?: Compute): string {
  if (typeof part === "string") return part;
  return "value" in part ? part.value : said(compute!(part.drawn), part.spec, lang);
}

const WRITTEN = /(\bW_[QKVO]\b|\bd_(?:k|v|model|head)\b|\bs_\w+|\be\^(?:\([^()]*\)|\w+)|\([-−\d.]+(?:, [-−\d.]+)+\))/;

/** W_Q, d_k and e^(s + 1) as they are written by hand; a vector such as (0, 1) is not broken. */
export function mathy(text: string): (JSX.Element | string)[] {
  return text.split(WRITTEN).map((piece, at) => {
    if (at % 2 === 0) return piece;
    if (piece[0] === "(") return <span key={at} class="whole">{piece}</span>;
    const rest = piece.slice(2);
    return <span key={at}>{piece[0]}{piece[1] === "_" ? <sub>{rest}</sub> : <Exponent text={rest} />}</span>;
  });
}

/** Who hears or copies it gets it as it was typed. */
function Exponent({ text }: { text: string }): JSX.Element {
  const [, open, inner, close] = /^(\(?)(.*?)(\)?)$/.exec(text)!;
  return (
    <>
      <span class="typed">^{open}</span><sup>{mathy(inner)}</sup>
      {close && <span class="typed">{close}</span>}
    </>
  );
}

/** A value in a sentence: with the particle that was asked for, or, as "()", in brackets where it is below zero. */
export function said(value: Value, spec: string, lang: Lang): string {
  const plain = typeof value === "string" ? value : Number(value);
  const isApart = spec === "()";
  if (spec !== "" && !isApart) return fill(`{it:${spec}}`, { it: plain }, lang);
  if (typeof plain === "string") return shown(plain);
  const text = number(plain).replace("-", "−");
  return isApart && plain < 0 ? `(${text})` : text;
}

export function PieceOf({ piece, lang }: { piece: Piece; lang: Lang }): JSX.Element {
  switch (piece.kind) {
    case "heading": return <Heading level={piece.level} text={piece.text} lang={lang} />;
    case "paragraph": return <p><Runs text={piece.text} lang={lang} /></p>;
    case "quote": return <blockquote><p><Runs text={piece.text} lang={lang} /></p></blockquote>;
    case "items": return <Items {...piece} lang={lang} />;
    case "table": return <Table rows={piece.rows} lang={lang} />;
    case "code": return <Code code={piece.code} />;
  }
}

/** The title of the page is the only one of its level. */
function Heading({ level, text, lang }: { level: number; text: Text; lang: Lang }): JSX.Element {
  const Level = (["h2", "h2", "h3", "h4"] as const)[level - 1];
  return <Level><Runs text={text} lang={lang} /></Level>;
}

interface ItemsGiven {
  readonly ordered: boolean;
  readonly entries: readonly Entry[];
  readonly lang: Lang;
}

function Items({ ordered, entries, lang }: ItemsGiven): JSX.Element {
  const List = ordered ? "ol" : "ul";
  const [top] = entries[0];
  const starts = entries.flatMap(([depth], at) => (depth <= top ? [at] : []));
  return (
    <List>
      {starts.map((at, n) => {
        const under = entries.slice(at + 1, starts[n + 1]);
        return (
          <li key={at}>
            <Runs text={entries[at][1]} lang={lang} />
            {under.length > 0 && <Items ordered={false} entries={under} lang={lang} />}
          </li>
        );
      })}
    </List>
  );
}

function Table({ rows: [header, ...rows], lang }: { rows: readonly (readonly Text[])[]; lang: Lang }): JSX.Element {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>{header.map((text, at) => <th key={at} scope="col"><Runs text={text} lang={lang} /></th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row, n) => (
            <tr key={n}>{row.map((text, at) => <Cell key={at} text={text} lang={lang} />)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A number, or a row of them, is not broken. */
function Cell({ text, lang }: Given): JSX.Element {
  const letters = text.flatMap(([, parts]) => parts.map((part) => textOf(part, lang))).join("");
  return <td class={/\p{L}/u.test(letters) ? undefined : "numbers"}><Runs text={text} lang={lang} /></td>;
}

/** A command of the terminal; its options are not broken. */
export function Command({ command }: { command: string }): JSX.Element {
  const words = command.split(" ").flatMap((word, at) => [" ", <span key={at} class="word">{word}</span>]);
  return <pre dir="ltr"><code>{words.slice(1)}</code></pre>;
}

/** It can be scrolled, so that it can be reached by the keyboard. */
export function Code({ code }: { code: string }): JSX.Element {
  return <pre tabIndex={0} dir="ltr"><code>{code}</code></pre>;
}
