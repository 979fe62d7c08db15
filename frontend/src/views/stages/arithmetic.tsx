/** "Where does this number come from?": the arithmetic of one number with its digits; each leads to where it stands. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { number, shown } from "../../explanation/words";
import type { Change } from "../../engine/changes";
import type {
  Joined, Origin, Rest, Rotated, Saying, Scaled, Share, Softmax, Step, Sum, Term,
} from "../../engine/origin";
import type { Cell, Lang } from "../../engine/record";
import type { Looking } from "./looking";
import { cellName, cellText } from "./names";
import { stopOf, stopsOf } from "./road";
import { titleOf } from "./walk";
import { told } from "./words";

interface Shown {
  readonly looking: Looking;
  readonly lang: Lang;
}

interface DigitProps extends Shown {
  readonly cell: Cell;
  readonly value: number;
  /** Not in brackets where it is negative. */
  readonly isBare?: boolean;
}

/** A number inside an arithmetic, which leads to the cell that it stands in. */
function Digit({ looking, lang, cell, value, isBare = false }: DigitProps): JSX.Element {
  const layer = looking.layers.value[cell.layer];
  const text = isBare || cell.stage === "allowed" ? cellText(cell.stage, value) : bracketed(value);
  return (
    <button
      type="button"
      class="digit"
      aria-label={`${cellName(layer, cell, lang)} ${text}`}
      onClick={() => looking.follow(cell)}
    >
      {text}
    </button>
  );
}

function bracketed(value: number): string {
  const text = number(value);
  return text.startsWith("-") ? `(${text})` : text;
}

/** Parts with " + " between them. */
function Added({ parts }: { parts: readonly JSX.Element[] }): JSX.Element {
  return <>{parts.map((part, at) => [at > 0 && " + ", part])}</>;
}

function Piece({ children, isZero = false }: { children: ComponentChildren; isZero?: boolean }): JSX.Element {
  return <span class={isZero ? "piece zero" : "piece"}>{children}</span>;
}

/** Whose number it is: a long name leaves room for the numbers. */
function Named({ name }: { name: string }): JSX.Element {
  return <><bdi class="named" title={shown(name)}>{shown(name)}</bdi>{" "}</>;
}

function Product({ term: { name, a, b, from }, ...shared }: Shown & { term: Term }): JSX.Element {
  return (
    <Piece isZero={a * b === 0}>
      {typeof name === "string" && <Named name={name} />}
      <Digit {...shared} cell={from[0]} value={a} />
      ×
      <Digit {...shared} cell={from[1]} value={b} />
    </Piece>
  );
}

/** Products, what is left of them, and the bias, added up. */
function Summed({ of: { terms, rest, bias }, ...shared }: Shown & { of: Sum }): JSX.Element {
  const parts = [
    ...terms.map((term) => <Product {...shared} term={term} />),
    ...restOf(rest, shared.lang),
    ...(bias === null ? [] : [<Piece>{bracketed(bias)} {told("origin.bias", shared.lang)}</Piece>]),
  ];
  return <Added parts={parts} />;
}

function restOf(rest: Rest | null, lang: Lang): JSX.Element[] {
  return rest === null ? [] : [<Piece>{told("origin.more", lang, { ...rest })}</Piece>];
}

// the kinds ----------------------------------------------------------------------------------------

function Arithmetic({ origin, ...shared }: Shown & { origin: Origin }): JSX.Element | null {
  switch (origin.kind) {
    case "given":
      return null;
    case "chained":
      return <Chained origin={origin} {...shared} />;
    case "projected":
    case "dot":
    case "mixed":
      return <Result value={origin.value}><Summed {...shared} of={origin} /></Result>;
    case "product":
      return <Result value={origin.value}><Product {...shared} term={origin} /></Result>;
    case "rotated":
      return <Turned {...shared} origin={origin} />;
    case "scaled":
      return <Steps {...shared} origin={origin} />;
    case "softmax":
      return <Shares {...shared} origin={origin} />;
    case "joined":
      return <FromHead {...shared} origin={origin} />;
    case "allowed":
      return <Rule saying={origin.saying} lang={shared.lang} />;
    case "hidden":
      return <p>{told("origin.hidden", shared.lang)} <Digit {...shared} cell={origin.from[0]} value={0} /></p>;
  }
}

function Result({ value, children }: { value: number; children: ComponentChildren }): JSX.Element {
  return <p class="sum">{children} <Piece>= <strong>{number(value)}</strong></Piece></p>;
}

function Chained({ origin, ...shared }: Shown & { origin: Extract<Origin, { kind: "chained" }> }): JSX.Element {
  const { from, output, residual, code, value } = origin;
  const { lang } = shared;
  const added = (cell: Cell, number: number, word: string): JSX.Element => (
    <Piece><Digit {...shared} cell={cell} value={number} /> {told(word, lang)}</Piece>
  );
  const parts = [
    added(from[0], output, "origin.output"),
    ...(residual === null ? [] : [added(from[1], residual, "origin.residual")]),
    ...(code === null ? [] : [<Piece>{bracketed(code)} {told("origin.code", lang)}</Piece>]),
  ];
  return <Result value={value}><Added parts={parts} /></Result>;
}

/** Two dimensions turn together: first the turn, then what each of them was before. */
function Turned({ origin, ...shared }: Shown & { origin: Rotated }): JSX.Element {
  const { position, angle, own, partner, value } = origin;
  const parts = [own, partner].map(({ sum, factor }) => <Piece>{bracketed(sum)}×{bracketed(factor)}</Piece>);
  return (
    <>
      <p>{told("origin.turned", shared.lang, { position, angle })}</p>
      <Result value={value}><Added parts={parts} /></Result>
      {[own, partner].map((one) => (
        <div key={one.dimension}>
          <p>{told("origin.own", shared.lang, { name: one.name })}</p>
          <Result value={one.sum}><Summed {...shared} of={one} /></Result>
        </div>
      ))}
    </>
  );
}

function Steps({ origin, ...shared }: Shown & { origin: Scaled }): JSX.Element {
  return (
    <p class="sum">
      <Digit {...shared} cell={origin.from[0]} value={origin.score} isBare />
      {origin.steps.map((step) => (
        <>{" "}<Piece>{stepText(step, shared.lang)} = <strong>{number(step.to)}</strong></Piece></>
      ))}
    </p>
  );
}

function stepText({ kind, by }: Step, lang: Lang): string {
  const n = number(by);
  switch (kind) {
    case "root":
      return `÷ √${n}`;
    case "scale":
      return `× ${bracketed(by)}`;
    case "temperature":
      return `÷ ${n} ${told("origin.temperature", lang)}`;
    case "softcap":
      return `→ ${n}·tanh(… ÷ ${n}) ${told("origin.softcap", lang)}`;
    case "bias":
      return `+ ${bracketed(by)} ${told("origin.position", lang)}`;
  }
}

/** The softmax: the key's own e^…, over all of them. */
function Shares({ origin, ...shared }: Shown & { origin: Softmax }): JSX.Element {
  const { lang } = shared;
  const { cell, shares, rest, sink, top, total, exp, value, n_hidden } = origin;
  const own: Share | undefined = shares.find((share) => share.key === cell.column);
  const parts = [
    ...shares.map((share) => (
      <Piece><Named name={share.name} /><Raised {...shared} share={share} top={top} /> = {number(share.exp)}</Piece>
    )),
    ...restOf(rest, lang),
    ...(sink === null ? [] : [<Piece>{number(sink.exp)} {told("origin.sink", lang)}</Piece>]),
  ];
  const exps = [...shares, ...(sink === null ? [] : [sink])].map((one) => number(one.exp));
  const denominator = rest === null ? exps : [...exps, "…"];
  return (
    <>
      <p class="sum">
        {own && <Piece><Raised {...shared} share={own} top={top} /></Piece>} ÷ ({denominator.join(" + ")})
        {" "}<Piece>= {number(exp)} ÷ {number(total)}</Piece> <Piece>= <strong>{number(value)}</strong></Piece>
      </p>
      <ul class="shares">{parts.map((part, at) => <li key={at}>{part}</li>)}</ul>
      <p class="quiet">
        {told("origin.top", lang, { top })} {n_hidden > 0 && told("origin.n_hidden", lang, { n: n_hidden })}
      </p>
    </>
  );
}

function Raised({ share, top, ...shared }: Shown & { share: Share; top: number }): JSX.Element {
  return (
    <span class="raised">
      e^(<Digit {...shared} cell={share.from} value={share.scaled} isBare /> - {bracketed(top)})
    </span>
  );
}

function FromHead({ origin: { head, mixed, bias, value, from }, ...shared }: Shown & { origin: Joined }): JSX.Element {
  const parts = [
    <Piece><Digit {...shared} cell={from[0]} value={mixed} /></Piece>,
    ...(bias === null ? [] : [<Piece>{bracketed(bias)} {told("origin.bias", shared.lang)}</Piece>]),
  ];
  return (
    <>
      <p>{told("origin.joined", shared.lang, { head })}</p>
      <Result value={value}><Added parts={parts} /></Result>
    </>
  );
}

function Rule({ saying, lang }: { saying: Saying; lang: Lang }): JSX.Element {
  if ("parts" in saying) {
    return (
      <>
        <p>{told(`rule.${saying.kind}`, lang)}</p>
        <ul>{saying.parts.map((part, at) => <li key={at}><Rule saying={part} lang={lang} /></li>)}</ul>
      </>
    );
  }
  return <p>{ruleText(saying, lang)}</p>;
}

function ruleText(saying: Exclude<Saying, { parts: unknown }>, lang: Lang): string {
  if (saying.kind === "everything") return told("rule.everything", lang);
  const said = `rule.${saying.kind}.${saying.allows ? "yes" : "no"}`;
  if (saying.kind !== "window") return told(said, lang, numbersIn(saying));
  const { back } = saying;
  const distance = told(back < 0 ? "rule.ahead" : "rule.back", lang, { n: Math.abs(back) });
  return told(said, lang, { ...numbersIn(saying), distance });
}

/** What a saying says, without the word that tells which kind it is. */
function numbersIn(saying: Saying): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(saying).filter(([, value]) => typeof value === "number"));
}

// the panel ----------------------------------------------------------------------------------------

export function OriginPanel({ looking }: { looking: Looking }): JSX.Element {
  const lang = looking.session.choice.lang.value;
  const origin = looking.origin.value;
  const back = useRef<HTMLButtonElement>(null);
  const isFollowed = looking.trail.value.length > 0;
  useEffect(() => {
    // The digit that was pressed is gone with its arithmetic: whoever followed it with the keyboard goes on from here.
    const page = back.current?.ownerDocument;
    if (isFollowed && page?.activeElement === page?.body) back.current!.focus();
  }, [origin]);
  return (
    <section class="origin" aria-labelledby="origin-title">
      <div class="origin-top">
        <h2 id="origin-title">{told("origin", lang)}</h2>
        {isFollowed && (
          <button ref={back} type="button" onClick={() => looking.back()}>← {told("back", lang)}</button>
        )}
      </div>
      {origin && <Where looking={looking} lang={lang} cell={origin.cell} />}
      <div class="arithmetic">
        {origin && <Told looking={looking} lang={lang} origin={origin} />}
      </div>
      {looking.kept.value === null && <p class="quiet hint">{told("origin.hint", lang)}</p>}
    </section>
  );
}

/** Which stage a number stands in: while the mouse points, it may be another one than that of the walk. */
function Where({ looking, lang, cell: { layer: at, stage } }: Shown & { cell: Cell }): JSX.Element {
  const layer = looking.layers.value[at];
  const stops = stopsOf(layer);
  const n = stops.indexOf(stopOf(layer, stage)) + 1;
  return <p class="where"><span class="step-number">{n}</span> {told(titleOf(stops, stage), lang)}</p>;
}

function Told({ looking, lang, origin }: Shown & { origin: Origin }): JSX.Element {
  const { cell, value, kind } = origin;
  const layer = looking.layers.value[cell.layer];
  const isMask = cell.stage === "allowed";
  const name = cellName(layer, cell, lang, kind === "hidden" || (isMask && value === 0));
  const change = looking.changes.value?.at(cell) ?? null;
  const isRounded = Number(number(value)) !== value;
  return (
    <>
      <p class="of"><span>{name}</span> {!isMask && <strong>{number(value)}</strong>}</p>
      <Arithmetic looking={looking} lang={lang} origin={origin} />
      {kind === "given" && <p>{told("origin.given", lang)} {canEdit(looking, cell) && told("origin.editable", lang)}</p>}
      {isRounded && <p class="quiet">{told("origin.rounded", lang)} <span class="full">{String(value)}</span></p>}
      {change && <p class="change">{told("origin.changed", lang, textsOf(change))}</p>}
    </>
  );
}

function textsOf({ cell: { stage }, before, after }: Change): { before: string; after: string } {
  return { before: cellText(stage, before), after: cellText(stage, after) };
}

/** Whether a given number is one that a person may change here. */
function canEdit({ session }: Looking, cell: Cell): boolean {
  return session.desk.value.sheet.value !== null && (cell.stage === "x" || cell.stage.startsWith("w_"));
}
