/** Which tokens stand beside a map: their texts where there is room, else positions. */
import type { CSSProperties, JSX } from "preact";
import type { Token } from "../../engine/record";
import { TokenText } from "../tokens";

/** Cells narrower than this have no room for a text. */
export const LEAST_LABELLED = 14;
const TICK_EVERY = 56;
/** Along the top, wider cells have their text written across. */
const WIDE = 56;
/** Of a cell at the edge, less than this is too little for any letter. */
const LEAST_SEEN = 12;

interface Ruler {
  readonly tokens: readonly Token[];
  /** In cells, which may be fractional. */
  readonly from: number;
  readonly cells: number;
  /** In pixels. */
  readonly length: number;
  readonly chosen: number;
}

/** Along the top ("across") or down the left side. Read aloud is the status line instead. */
export function Ruler({ along, ...ruler }: Ruler & { along: "across" | "down" }): JSX.Element {
  const cell = ruler.length / ruler.cells;
  const Marks = cell >= LEAST_LABELLED ? Labels : Ticks;
  return (
    <div class={`ruler ${along}`} aria-hidden="true">
      <Marks {...ruler} along={along} cell={cell} />
    </div>
  );
}

type Inside = Ruler & { along: "across" | "down"; cell: number };

/** One label a token, but one text for all the pieces of a character, with its parts under it. */
function Labels({ tokens, from, cells, cell, chosen, along, length }: Inside): JSX.Element {
  const first = Math.max(0, Math.floor(from));
  const end = Math.min(tokens.length, Math.ceil(from + cells));
  const groups = groupsOf(tokens, first, end);
  return (
    <>
      {groups.map(({ at, size }) => {
        const start = Math.max(0, (at - from) * cell);
        const stop = Math.min(length, (at + size - from) * cell);
        if (stop - start < LEAST_SEEN) return null;
        const marks = [chosen >= at && chosen < at + size ? " chosen" : "", cell >= WIDE ? " wide" : ""];
        return (
          <span key={at} class={`label${marks.join("")}`} style={placed(along, start, stop - start)}>
            {size > 1 && <Pieces tokens={tokens.slice(at, at + size)} chosen={chosen - at} />}
            {size === 1 && <TokenText token={tokens[at]} />}
          </span>
        );
      })}
    </>
  );
}

/** The pieces of one character: its text once, and each piece as the byte that it is. */
function Pieces({ tokens, chosen }: { tokens: readonly Token[]; chosen: number }): JSX.Element {
  return (
    <span class="pieces">
      <TokenText token={{ ...tokens[0], label: { ...tokens[0].label, part: 1, parts: 1 } }} />
      <span class="chips">
        {tokens.map(({ label }, at) => (
          <span key={at} class={at === chosen ? "chip chosen" : "chip"}>
            {label.raw ?? `${label.part}/${label.parts}`}
          </span>
        ))}
      </span>
    </span>
  );
}

/** Runs of tokens that are the pieces of one character. */
function groupsOf(tokens: readonly Token[], first: number, end: number): { at: number; size: number }[] {
  const groups: { at: number; size: number }[] = [];
  for (let at = first; at < end; at++) {
    const { part, parts, text } = tokens[at].label;
    const last = groups[groups.length - 1];
    const before = at > first ? tokens[at - 1].label : null;
    const isOfSame = before !== null && before.text === text && before.parts === parts;
    const goesOn = isOfSame && parts > 1 && part === before.part + 1;
    if (goesOn) last.size += 1;
    else groups.push({ at, size: 1 });
  }
  return groups;
}

function Ticks({ from, cells, cell, along, length }: Inside): JSX.Element {
  const step = roundStep(TICK_EVERY / cell);
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at < from + cells; at += step) ticks.push(at);
  return (
    <>
      {ticks.map((at) => {
        const middle = (at + 0.5 - from) * cell;
        return middle > length ? null : (
          <span key={at} class="tick" style={inRuler(along, middle, length, String(at).length)}>
            {at}
          </span>
        );
      })}
    </>
  );
}

/** 1, 2, 5, 10, 20, 50 …, the first that is not smaller. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least) ?? power * 10;
}

/** Around its middle, but with all of its digits on the ruler. */
function inRuler(along: "across" | "down", middle: number, length: number, nDigits: number): CSSProperties {
  const half = along === "across" ? `${nDigits / 2}ch` : "0.5em";
  const place = `clamp(${half}, ${middle}px, ${length}px - ${half})`;
  return along === "across" ? { left: place } : { top: place };
}

function placed(along: "across" | "down", start: number, size: number): CSSProperties {
  return along === "across" ? { left: `${start}px`, width: `${size}px` } : { top: `${start}px`, height: `${size}px` };
}
