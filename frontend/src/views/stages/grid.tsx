/** One table: a grid with one tab stop, whose numbers can be pointed at, chosen and, where they are given, edited. */
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { number } from "../../explanation/words";
import type { Cell, Lang } from "../../engine/record";
import { css, inkOn, placeOf, weightColour } from "../../look/colours";
import { nameOf, TokenText } from "../tokens";
import { Beside } from "./beside";
import { CellView, TypingField } from "./cell";
import { Hands, find, type At, type GridProps } from "./hands";
import type { Looking } from "./looking";
import { Mathy } from "./mathy";
import { AxisMenu, type MenuOf } from "./menu";
import { cellNames, cellText, placeName, symbolOf } from "./names";
import { cellAt, placeIn, type Axis, type Grid, type Place } from "./road";
import { told } from "./words";

export function GridTable(props: GridProps): JSX.Element {
  const { looking, grid, editable, label } = props;
  const lang = looking.session.choice.lang.value;
  const table = useRef<HTMLTableElement>(null);
  const hands = useMemo(() => new Hands(table), []);
  hands.props = props;
  const { typing, menu } = hands;
  const stop = stopIn(grid, hands.stop.value ?? firstStop(grid, looking));
  const isPart = grid.rows.places.length < grid.rows.n || grid.columns.places.length < grid.columns.n;
  const wrongId = `wrong-${grid.stage}`;
  return (
    <div class="box">
      <div class="scroll">
        <table
          ref={table}
          role="grid"
          aria-label={label}
          aria-readonly={editable === null}
          aria-rowcount={isPart ? grid.rows.n + 1 : undefined}
          aria-colcount={isPart ? grid.columns.n + 1 : undefined}
          data-stage={grid.stage}
          {...hands.handlers}
        >
          <thead>
            <Names {...props} stop={stop} isPart={isPart} />
          </thead>
          <Body {...props} hands={hands} stop={stop} wrongId={wrongId} isPart={isPart} />
        </table>
      </div>
      {typing.value?.wrong != null && (
        <Beside class="wrong" find={(box) => find(box, typing.value!)}>
          <p id={wrongId} role="alert">{typing.value.wrong}</p>
        </Beside>
      )}
      {hands.wrong.value !== null && (
        <Beside class="wrong" find={(box) => find(box, hands.wrong.value!.at)}>
          <p role="alert">{hands.wrong.value.text}</p>
        </Beside>
      )}
      {menu.value !== null && (
        <Beside class="menu" find={(box) => find(box, placeOfMenu(grid, menu.value!))}>
          <AxisMenu looking={looking} of={menu.value} lang={lang} close={() => hands.closeMenu()} />
        </Beside>
      )}
    </div>
  );
}

/** The chosen query and key, where they stand here. */
function firstStop(grid: Grid, looking: Looking): At {
  const { row, column } = chosenIn(grid, looking);
  const found = ({ places }: Axis, at: number): number => Math.max(0, places.findIndex((place) => place.at === at));
  return { row: found(grid.rows, row), column: found(grid.columns, column) };
}

/** The place, or the nearest one that is still there. */
function stopIn({ rows, columns }: Grid, { row, column }: At): At {
  const at = { row: Math.min(row, rows.places.length - 1), column: Math.min(column, columns.places.length - 1) };
  return at.row === -1 && at.column === -1 ? { row: 0, column: 0 } : at;
}

function placeOfMenu(grid: Grid, { kind, at }: MenuOf): At {
  const side = kind === "token" ? grid.rows : grid.columns;
  const place = Math.max(0, side.places.findIndex((one) => one.at === at));
  return kind === "token" ? { row: place, column: -1 } : { row: -1, column: place };
}

// names --------------------------------------------------------------------------------------------

function Names({ looking, grid, menus, stop, isPart }: GridProps & { stop: At; isPart: boolean }): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const chosen = chosenIn(grid, looking);
  return (
    <tr>
      <td class="corner"><Mathy text={symbolOf(grid.stage, looking.scaling.value)} /></td>
      {grid.columns.places.map((place, column) => (
        <th
          key={column}
          scope="col"
          role="columnheader"
          class={nameLook(grid.columns.kind, place.at === chosen.column)}
          tabIndex={stop.row === -1 && stop.column === column ? 0 : -1}
          aria-colindex={isPart ? place.at + 2 : undefined}
          aria-haspopup={hasMenu(place, menus) ? "dialog" : undefined}
          data-row={-1}
          data-column={column}
        >
          <NameText place={place} lang={lang} hasMenu={hasMenu(place, menus)} />
        </th>
      ))}
      {grid.rest && <th scope="col" class="rest">{told("rest", lang)}</th>}
      {!grid.rest && grid.columns.places.length < grid.columns.n && <td class="more">…</td>}
    </tr>
  );
}

function NameText({ place, lang, hasMenu }: { place: Place; lang: Lang; hasMenu: boolean }): JSX.Element {
  return (
    <span class="name" title={placeName(place, lang)}>
      {place.token ? <TokenText token={place.token} /> : <bdi>{placeName(place, lang)}</bdi>}
      {hasMenu && <span class="caret" aria-hidden="true">▾</span>}
    </span>
  );
}

function hasMenu({ token }: Place, menus: GridProps["menus"]): boolean {
  return token === null ? menus.dimension : menus.token;
}

function nameLook(kind: Grid["rows"]["kind"], isChosen: boolean): string {
  return kind === "dimension" || !isChosen ? "side" : `side of-${kind}`;
}

/** The positions that are chosen on the sides of a table; −1 where none is. */
function chosenIn({ rows, columns }: Grid, { session: { choice } }: Looking): At {
  const chosen = { query: choice.query.value, key: choice.key.value, dimension: -1 };
  return { row: chosen[rows.kind], column: chosen[columns.kind] };
}

// numbers ------------------------------------------------------------------------------------------

interface BodyProps extends GridProps {
  readonly hands: Hands;
  readonly stop: At;
  readonly wrongId: string;
  readonly isPart: boolean;
}

/** All that the look of a cell depends on, besides its number. */
interface Seen extends BodyProps {
  readonly names: ReturnType<typeof cellNames>;
  readonly befores: readonly (number | null)[];
  readonly chosen: At;
  readonly pointed: string | null;
  readonly sources: ReadonlySet<string>;
}

function Body(props: BodyProps): JSX.Element {
  const { looking, grid, menus, stop, isPart } = props;
  const lang = looking.session.choice.lang.value;
  const [pointed, sources] = useMarks(grid, looking);
  const chosen = chosenIn(grid, looking);
  const names = useNames(grid, looking, lang);
  const befores = useBefores(grid, looking);
  const seen: Seen = { ...props, names, befores, chosen, pointed, sources };
  return (
    <tbody>
      {grid.rows.places.map((place, row) => (
        <tr key={row} aria-rowindex={isPart ? place.at + 2 : undefined}>
          <th
            scope="row"
            role="rowheader"
            class={nameLook(grid.rows.kind, place.at === chosen.row)}
            tabIndex={stop.row === row && stop.column === -1 ? 0 : -1}
            aria-haspopup={hasMenu(place, menus) ? "dialog" : undefined}
            data-row={row}
            data-column={-1}
          >
            <NameText place={place} lang={lang} hasMenu={hasMenu(place, menus)} />
          </th>
          {grid.columns.places.map((_, column) => cellIn(seen, row, column))}
          {grid.rest && <td class="rest">{number(grid.rest[row])}</td>}
          {!grid.rest && grid.columns.places.length < grid.columns.n && <td class="more">…</td>}
        </tr>
      ))}
    </tbody>
  );
}

function cellIn(seen: Seen, row: number, column: number): JSX.Element {
  const { grid, editable, names, befores, stop, isPart } = seen;
  const at = row * grid.columns.places.length + column;
  const text = cellText(grid.stage, grid.values[at]);
  const isHidden = hides(grid, at);
  const name = (isHidden ? names.hidden : names.open)[at];
  const before = befores[at];
  return (
    <CellView
      key={column}
      row={row}
      column={column}
      text={text}
      name={grid.stage === "allowed" ? name : `${name} ${text}`}
      title={before === null ? undefined : `${cellText(grid.stage, before)} → ${text}`}
      look={lookOf(seen, row, column)}
      colour={grid.stage === "weights" && !isHidden ? heat(grid.values[at]) : undefined}
      isStop={stop.row === row && stop.column === column}
      isReadOnly={editable === null}
      index={isPart ? grid.columns.places[column].at + 2 : undefined}
      typing={typingIn(seen, row, column, name)}
    />
  );
}

function hides({ stage, hidden, values }: Grid, at: number): boolean {
  return hidden?.[at] === 1 || (stage === "allowed" && values[at] === 0);
}

function lookOf({ grid, editable, befores, chosen, pointed, sources }: Seen, row: number, column: number): string {
  const at = row * grid.columns.places.length + column;
  const [inRow, inColumn] = [grid.rows.places[row].at, grid.columns.places[column].at];
  const place = `${inRow},${inColumn}`;
  const looks = [
    editable ?? "derived",
    hides(grid, at) && "hidden",
    inRow === chosen.row && `row-${grid.rows.kind}`,
    inColumn === chosen.column && "column-key",
    place === pointed && "pointed",
    sources.has(place) && "source",
    befores[at] !== null && "changed",
  ];
  return looks.filter(Boolean).join(" ");
}

function typingIn({ hands, looking, wrongId }: Seen, row: number, column: number, name: string): JSX.Element | null {
  const typing = hands.typing.value;
  if (typing?.row !== row || typing.column !== column) return null;
  const label = `${name} ${told("edit.change", looking.session.choice.lang.value)}`;
  return <TypingField {...hands.field} typing={typing} label={label} wrongId={wrongId} />;
}

function heat(weight: number): string {
  const colour = weightColour(placeOf(weight, "sqrt"));
  return `background-color:${css(colour)};color:${inkOn(colour)}`;
}

/** The cells' names change with the tokens and dimensions, not with the numbers. */
function useNames(grid: Grid, looking: Looking, lang: Lang): ReturnType<typeof cellNames> {
  const asking = looking.session.layer.value!.tokens[looking.session.choice.query.value];
  const query = asking ? nameOf(asking) : "";
  const places = [...grid.rows.places, ...grid.columns.places];
  const named = places.map(({ at, name }) => (typeof name === "object" ? at : name)).join("\0");
  return useMemo(() => cellNames(grid, lang, query), [named, lang, grid.stage, query, grid.columns.places.length]);
}

/** What stood in each cell before the last edit; null where it is what it was. */
function useBefores(grid: Grid, looking: Looking): readonly (number | null)[] {
  const changed = looking.changes.value;
  return useMemo(() => {
    const width = grid.columns.places.length;
    return Array.from(grid.values, (_, at) => {
      return changed?.at(cellAt(grid, Math.floor(at / width), at % width))?.before ?? null;
    });
  }, [grid, changed]);
}

/** The cell whose arithmetic is shown, if it stands here, and those that it was made from. */
function useMarks(grid: Grid, looking: Looking): [string | null, ReadonlySet<string>] {
  const { layer, stage, head } = grid;
  const here = (cell: Cell): boolean => cell.layer === layer && cell.stage === stage && (cell.head === head || head === 0);
  const cell = looking.cell.value;
  const from = looking.origin.value?.from ?? [];
  return [here(cell) ? placeIn(cell) : null, new Set(from.filter(here).map(placeIn))];
}
