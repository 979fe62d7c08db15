/** B − A on the common axis of both texts: a cell a button where they are few, else a picture that speaks. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Token } from "../../engine/record";
import { number } from "../../explanation/words";
import { css, differenceColour, inkOn } from "../../look/colours";
import { put } from "../map/paint";
import { inSlices } from "../map/slices";
import { placeByKey } from "../map/surface";
import type { Place } from "../map/window";
import { TokenText } from "../tokens";
import { rowsOf, type Both, type Slot } from "./aligned";
import { signed } from "./changes";

/** Up to so many places a side, every cell is an element. */
const MOST_BUTTONS = 24;
const SIDE = 384;

export interface DifferenceGiven {
  readonly both: Both;
  readonly rows: readonly Slot[];
  readonly columns: readonly Slot[];
  readonly sharedOut: boolean;
  readonly name: string;
  readonly describedBy: string;
  /** A place of the common axis: down, and across. */
  readonly spot: Place;
  readonly choose: (spot: Place) => void;
  readonly tell: (spot: Place) => string;
  readonly top: (top: number) => void;
}

export function Difference(given: DifferenceGiven): JSX.Element {
  const isSmall = Math.max(given.rows.length, given.columns.length) <= MOST_BUTTONS;
  return isSmall ? <Buttons {...given} /> : <Picture {...given} />;
}

/** The changes of a row of the axis: NaN where a token is only in one text. */
function changesIn({ both, columns, sharedOut }: DifferenceGiven, { a, b }: Slot): Float64Array {
  const changes = new Float64Array(columns.length).fill(NaN);
  if (a === null || b === null) return changes;
  const rows = rowsOf(both, [a, b], sharedOut);
  const places = new Map(both.keys.map((pair, at) => [pair[0], at]));
  columns.forEach((slot, column) => {
    const at = slot.a === null || slot.b === null ? undefined : places.get(slot.a);
    if (at !== undefined) changes[column] = rows.b[at] - rows.a[at];
  });
  return changes;
}

function Buttons(given: DifferenceGiven): JSX.Element {
  const { both, rows, columns, spot, choose, tell } = given;
  const grid = useRef<HTMLTableElement>(null);
  const changes = rows.map((slot) => changesIn(given, slot));
  const top = topOf(changes);
  useEffect(() => given.top(top), [top]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = placeByKey(event, spot, rows.length, columns.length);
    if (to === null) return;
    event.preventDefault();
    choose(to);
    grid.current!.rows[to.query + 1].cells[to.key + 1].querySelector("button")!.focus();
  };
  return (
    <div class="scrolls">
      <table
        class="difference"
        role="grid"
        aria-label={given.name}
        aria-describedby={given.describedBy}
        ref={grid}
        onKeyDown={onKeyDown}
      >
        <thead>
          <tr>
            <td />
            {columns.map((slot, column) => (
              <th key={column} scope="col">
                <TokenText token={keyTokenOf(both, slot)} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((slot, row) => (
            <tr key={row}>
              <th scope="row">
                <TokenText token={tokenOf(both, slot)} />
              </th>
              {columns.map((_, column) => {
                const isHere = spot.query === row && spot.key === column;
                const change = changes[row][column];
                return (
                  <td
                    key={column}
                    role="gridcell"
                    aria-selected={isHere}
                    class={Number.isNaN(change) ? "hatched" : ""}
                    style={coloured(change, top)}
                  >
                    <button
                      type="button"
                      tabIndex={isHere ? 0 : -1}
                      aria-label={tell({ query: row, key: column })}
                      onClick={() => choose({ query: row, key: column })}
                    >
                      {Number.isNaN(change) ? "" : Math.abs(change) < 0.0005 ? number(0) : signed(change)}
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function coloured(change: number, top: number): Record<string, string> {
  if (Number.isNaN(change)) return {};
  const colour = differenceColour(top > 0 ? change / top : 0);
  return { background: css(colour), color: inkOn(colour) };
}

function topOf(rows: readonly Float64Array[]): number {
  let top = 0;
  for (const row of rows) for (const change of row) if (Math.abs(change) > top) top = Math.abs(change);
  return top;
}

/** Many tokens: under each pixel the largest change, some rows a frame. */
function Picture(given: DifferenceGiven): JSX.Element {
  const { both, rows, columns, sharedOut, spot, choose } = given;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => painted(canvas.current!, given), [both.a, both.b, both.head, rows, columns, sharedOut]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = placeByKey(event, spot, rows.length, columns.length);
    if (to === null) return;
    event.preventDefault();
    choose(to);
  };
  const onClick = (event: MouseEvent & { currentTarget: HTMLElement }): void => {
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    const at = (share: number, n: number): number => Math.max(0, Math.min(n - 1, Math.floor(share * n)));
    const query = at((event.clientY - top) / height, rows.length);
    choose({ query, key: at((event.clientX - left) / width, columns.length) });
  };
  const share = (part: number, all: number): string => `${(100 * part) / all}%`;
  return (
    <div class="plot hatched">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={given.name}
        aria-describedby={given.describedBy}
        onKeyDown={onKeyDown}
        onClick={onClick}
      />
      <div
        class="mark cell"
        style={{
          left: share(spot.key, columns.length), top: share(spot.query, rows.length),
          width: share(1, columns.length), height: share(1, rows.length),
        }}
      />
    </div>
  );
}

function painted(canvas: HTMLCanvasElement, given: DifferenceGiven): () => void {
  const { rows, columns } = given;
  const [width, height] = [Math.min(SIDE, columns.length), Math.min(SIDE, rows.length)];
  const values = new Float64Array(width * height).fill(NaN);
  let row = 0;
  const step = (): boolean => {
    pool(values, changesIn(given, rows[row]), Math.floor((row * height) / rows.length), width);
    row += 1;
    return row < rows.length;
  };
  return inSlices(step, (goesOn) => {
    show(canvas, values, width, height, given.top);
    if (!goesOn) canvas.dataset.painted = "exact";
  });
}

/** Into one row of pixels: of what lies under each, the largest change either way. */
function pool(values: Float64Array, changes: Float64Array, y: number, width: number): void {
  changes.forEach((change, column) => {
    const at = y * width + Math.floor((column * width) / changes.length);
    if (!Number.isNaN(change) && !(Math.abs(change) <= Math.abs(values[at]))) values[at] = change;
  });
}

function show(
  canvas: HTMLCanvasElement,
  values: Float64Array,
  width: number,
  height: number,
  tell: (top: number) => void,
): void {
  const top = topOf([values]);
  const data = new ImageData(width, height);
  values.forEach((change, at) => Number.isNaN(change) || put(data, at, differenceColour(top > 0 ? change / top : 0)));
  [canvas.width, canvas.height] = [width, height];
  canvas.getContext("2d")!.putImageData(data, 0, 0);
  tell(top);
}

export function tokenOf({ a, b }: Both, slot: Slot): Token {
  return slot.a === null ? b.tokens[slot.b!] : a.tokens[slot.a];
}

export function keyTokenOf({ a, b }: Both, slot: Slot): Token {
  return slot.a === null ? (b.keyTokens ?? b.tokens)[slot.b!] : (a.keyTokens ?? a.tokens)[slot.a];
}

