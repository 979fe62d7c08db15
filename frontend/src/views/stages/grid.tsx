/** One table: a grid with one tab stop, whose numbers can be pointed at, chosen and, where they are given, edited. */
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { useComputed } from "@preact/signals";
import { number } from "../../explanation/words";
import type { Lang, Stage } from "../../engine/record";
import { css, inkOn, placeOf, weightColour } from "../../look/colours";
import { TokenText } from "../tokens";
import { Beside } from "./beside";
import { CellView, TypingField } from "./cell";
import { Hands, find, hasMenu, type At, type GridProps, type Menus } from "./hands";
import type { Befores, Looking } from "./looking";
import { Mathy } from "./mathy";
import { AxisMenu, type MenuOf } from "./menu";
import { cellNames, cellText, placeName, symbolOf } from "./names";
import type { Axis, Grid, Place } from "./road";
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
            <Names
              looking={looking}
              stage={grid.stage}
              columns={grid.columns}
              hasRest={grid.rest !== null}
              menus={props.menus}
              stop={stop.row === -1 ? stop.column : null}
              isPart={isPart}
            />
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

interface NamesProps {
  readonly looking: Looking;
  readonly stage: Stage;
  readonly columns: Axis;
  readonly hasRest: boolean;
  readonly menus: Menus;
  /** The column of the tab stop, where it is up here. */
  readonly stop: number | null;
  readonly isPart: boolean;
}

function Names({ looking, stage, columns, hasRest, menus, stop, isPart }: NamesProps): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const chosen = chosenOn(columns, looking);
  return (
    <tr>
      <td class="corner"><Mathy text={symbolOf(stage, looking.scaling.value)} /></td>
      {columns.places.map((place, column) => (
        <SideName
          key={column}
          looking={looking}
          scope="col"
          look={nameLook(columns.kind, place.at === chosen)}
          place={place}
          row={-1}
          column={column}
          isStop={stop === column}
          index={isPart ? place.at + 2 : undefined}
          menus={menus}
        />
      ))}
      {hasRest && <th scope="col" class="rest">{told("rest", lang)}</th>}
      {!hasRest && columns.places.length < columns.n && <td class="more">…</td>}
    </tr>
  );
}

interface SideProps {
  readonly looking: Looking;
  readonly scope: "row" | "col";
  readonly look: string;
  readonly place: Place;
  readonly row: number;
  readonly column: number;
  readonly isStop: boolean;
  readonly index?: number | undefined;
  readonly menus: Menus;
}

/** The name of a row or a column. */
function SideName({ looking, scope, look, place, row, column, isStop, index, menus }: SideProps): JSX.Element {
  const name = placeName(place, looking.session.choice.lang.value);
  const opens = hasMenu(place, menus);
  return (
    <th
      scope={scope}
      role={scope === "row" ? "rowheader" : "columnheader"}
      class={look}
      tabIndex={isStop ? 0 : -1}
      aria-colindex={index}
      aria-haspopup={opens ? "dialog" : undefined}
      data-row={row}
      data-column={column}
    >
      <span class="name" title={name}>
        {place.token ? <TokenText token={place.token} /> : <bdi>{name}</bdi>}
        {opens && <span class="caret" aria-hidden="true">▾</span>}
      </span>
    </th>
  );
}

function nameLook(kind: Grid["rows"]["kind"], isChosen: boolean): string {
  return kind === "dimension" || !isChosen ? "side" : `side of-${kind}`;
}

/** The positions that are chosen on the sides of a table; −1 where none is. */
function chosenIn({ rows, columns }: Grid, looking: Looking): At {
  return { row: chosenOn(rows, looking), column: chosenOn(columns, looking) };
}

function chosenOn({ kind }: Axis, { session: { choice } }: Looking): number {
  return kind === "dimension" ? -1 : choice[kind].value;
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
  readonly befores: Befores;
  readonly chosen: At;
  readonly pointed: string | null;
  readonly sources: ReadonlySet<string>;
}

function Body(props: BodyProps): JSX.Element {
  const { looking, grid, menus, stop, isPart } = props;
  const lang = looking.session.choice.lang.value;
  const { pointed, sources } = useComputed(() => looking.marks.value.get(grid.stage)!).value;
  const befores = useComputed(() => looking.befores.value.get(grid.stage)!).value;
  const chosen = chosenIn(grid, looking);
  const names = useNames(grid, looking, lang);
  const seen: Seen = { ...props, names, befores, chosen, pointed, sources: new Set(sources) };
  return (
    <tbody>
      {grid.rows.places.map((place, row) => (
        <tr key={row} aria-rowindex={isPart ? place.at + 2 : undefined}>
          <SideName
            looking={looking}
            scope="row"
            look={nameLook(grid.rows.kind, place.at === chosen.row)}
            place={place}
            row={row}
            column={-1}
            isStop={stop.row === row && stop.column === -1}
            menus={menus}
          />
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
  const query = looking.asking.value;
  return useMemo(() => cellNames(grid, lang, query), [grid.rows, grid.columns, grid.stage, lang, query]);
}
