/** The design panel: what a row should be, beside what it is; and, where Python is, the weights that make it so. */
import type { JSX } from "preact";
import { useId, useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { whySentences } from "../../explanation/explain";
import { shown } from "../../explanation/words";
import type { Lang } from "../../engine/record";
import { Refused } from "../../engine/sheet";
import { besideReached, tableFor, type Beside, type Trouble } from "../../engine/wanted";
import { LOST } from "../../engine/yaml";
import { refusal } from "../stages/refusals";
import type { Looking } from "../stages/looking";
import { nameOf } from "../tokens";
import { designingOf, type Designing, type Wrong } from "./designing";
import css from "./design.css";
import { Keys } from "./keys";
import type { Reason, Report } from "./report";
import { said } from "./words";

/** Closed at first, unless the record is a design, or a link brought other wishes. */
export function DesignPanel({ looking }: { looking: Looking }): JSX.Element | null {
  const { session, isEditable } = looking;
  const desk = session.desk.value;
  const designing = useMemo(() => designingOf(session, desk), [session, desk]);
  const isOpen = useSignal(designing.found.peek() !== null || desk.sheet.peek()?.wanted !== desk.original?.wanted);
  const lang = session.choice.lang.value;
  if (!isEditable.value) return null;
  return (
    <details class="design" open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{said("title", lang)}</summary>
      {isOpen.value && (
        <>
          <style>{css}</style>
          <Inside looking={looking} designing={designing} />
        </>
      )}
    </details>
  );
}

interface Props {
  readonly looking: Looking;
  readonly designing: Designing;
}

function Inside({ looking, designing }: Props): JSX.Element {
  const { session } = looking;
  const { layer, lang } = session.choice;
  const last = designing.desk.nLayers - 1;
  if (layer.value !== last) {
    return (
      <div class="design-found">
        <p class="note">
          {said("other.layer", lang.value)}{" "}
          <button type="button" onClick={() => session.choose({ layer: last })}>
            {said("to.layer", lang.value, { layer: last })}
          </button>
        </p>
        <Found designing={designing} />
        <WhyQuery looking={looking} />
      </div>
    );
  }
  return (
    <div class="design-parts">
      <div class="design-row">
        <Rows looking={looking} designing={designing} />
        <Row looking={looking} designing={designing} />
      </div>
      <div class="design-found">
        {session.solver === null ? <p class="note">{said("offline", lang.value)}</p> : <Asking designing={designing} />}
        <Found designing={designing} />
        <WhyQuery looking={looking} />
      </div>
    </div>
  );
}

// the rows -----------------------------------------------------------------------------------------

/** The other rows of which something is wanted, and how far each is off. */
function Rows({ looking: { session }, designing }: Props): JSX.Element | null {
  const { head, query, lang } = session.choice;
  const layer = session.layer.value!;
  const { wanted } = designing.desk.sheet.value!;
  const queries = Object.keys(tableFor(wanted, head.value)).map(Number);
  if (queries.every((at) => at === query.value)) return null;
  const offOf = (at: number): string => {
    const beside = besideReached(layer, wanted, head.value, at)!;
    if (isTrouble(beside)) return said("row.trouble", lang.value);
    return said("row.nats", lang.value, { kl: beside.divergence });
  };
  return (
    <div class="choices" role="group" aria-label={said("rows", lang.value)}>
      {queries.map((at) => (
        <button
          key={at}
          type="button"
          aria-pressed={at === query.value}
          onClick={() => session.choose({ query: at })}
        >
          {said("row", lang.value, { query: nameOf(layer.tokens[at]), off: offOf(at) })}
        </button>
      ))}
    </div>
  );
}

function isTrouble(beside: Beside | Trouble): beside is Trouble {
  return "kind" in beside;
}

/** The chosen query's row: what is wanted of each key, and what that comes to. */
function Row({ looking, designing }: Props): JSX.Element {
  const { head, query, lang } = looking.session.choice;
  const layer = looking.session.layer.value!;
  const { wanted } = designing.desk.sheet.value!;
  const row = tableFor(wanted, head.value)[query.value] ?? null;
  const beside = besideReached(layer, wanted, head.value, query.value);
  const whole = beside && !isTrouble(beside) ? beside.wanted : null;
  const told = useId();
  return (
    <section aria-describedby={told}>
      <h3>{said("keys", lang.value, { query: looking.asking.value })}</h3>
      <Keys looking={looking} designing={designing} row={row} whole={whole} />
      <p id={told} class="row-told" role="status">{rowText(looking, beside)}</p>
      {row !== null && (
        <button type="button" onClick={() => designing.want(head.value, query.value, null)}>
          {said("leave.free", lang.value)}
        </button>
      )}
    </section>
  );
}

/** How far a row is from what is wanted, or why it cannot be wanted. */
function rowText(looking: Looking, beside: Beside | Trouble | null): string {
  const lang = looking.session.choice.lang.value;
  const query = looking.asking.value;
  if (beside === null) return said("row.free", lang, { query });
  if (isTrouble(beside)) return said(`trouble.${beside.kind}`, lang, { query, total: beside.total });
  const { tokens } = looking.session.layer.value!;
  const { divergence: kl, most, wanted, reached } = beside;
  const names = tokens.map(nameOf);
  const isSame = most.difference <= SAME;
  const off = said(isSame ? "row.same" : "row.off", lang, { kl, ...most, key: names[most.key] });
  const zeros = names.filter((_, key) => wanted[key] === 0 && reached[key] > 0);
  return zeros.length === 0 ? off : `${off} ${said("row.zero", lang, { keys: zeros })}`;
}

/** As Python's `Design.exact`. */
const SAME = 1e-7;

// Python -------------------------------------------------------------------------------------------

function Asking({ designing }: { designing: Designing }): JSX.Element {
  const { isLive, keepsKeys, state, found, desk, session } = designing;
  const lang = session.choice.lang.value;
  const isNothing = desk.sheet.value!.wanted.length === 0;
  const isFound = state.value === "solved" && found.value?.isStale === false;
  return (
    <div class="asking">
      <div class="fields">
        <button type="button" disabled={isNothing} onClick={() => void designing.solve()}>
          {said("solve", lang)}
        </button>
        <Check of={isLive} label={said("live", lang)} />
        <Check of={keepsKeys} label={said("keep.keys", lang)} />
      </div>
      <p class="note" role="status">
        {isNothing && said("nothing", lang)}
        {state.value === "asking" && said("solving", lang)}
        {state.value === "late" && said("late", lang)}
        {isFound && said("solved", lang)}
      </p>
      {designing.wrong.value !== null && (
        <p class="refused" role="alert">
          {said("not.solved", lang, { reason: wrongText(designing.wrong.value, lang) })}
        </p>
      )}
    </div>
  );
}

function Check({ of, label }: { of: Designing["isLive"]; label: string }): JSX.Element {
  return (
    <label class="field">
      <input type="checkbox" checked={of.value} onChange={(event) => (of.value = event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

function wrongText(wrong: Wrong, lang: Lang): string {
  if (wrong instanceof Refused) return refusal(wrong, lang);
  if (!("lost" in wrong)) return shown(wrong[lang]);
  const what = wrong.lost.map((one) => LOST[one][lang === "en" ? 0 : 1]).join(", ");
  return said("cannot.carry", lang, { what });
}

// what was found -----------------------------------------------------------------------------------

function Found({ designing }: { designing: Designing }): JSX.Element | null {
  const lang = designing.session.choice.lang.value;
  const found = designing.found.value;
  if (found === null) return null;
  const { report, isStale } = found;
  return (
    <section class={isStale ? "stale" : undefined} aria-label={said("report", lang)}>
      <h3>{said("report", lang)}</h3>
      {isStale && <p class="refused">{said("stale", lang)}</p>}
      <p>
        {reportText(report, lang)}
      </p>
      {report.reasons.length > 0 && <h4>{said("reasons", lang)}</h4>}
      <ul>
        {report.reasons.map((reason, at) => <Because key={at} reason={reason} lang={lang} />)}
      </ul>
    </section>
  );
}

/** Whether all is reached; else how far off it is, and how near to the best possible. */
function reportText({ exact, finished, loss, gap, ridge }: Report, lang: Lang): string {
  if (exact) return said("exact", lang);
  const proof = said(ridge ? "ridge" : gap <= NO_GAP ? "best" : "gap", lang, { gap });
  return [said("inexact", lang, { loss }), proof, finished ? "" : said("unfinished", lang)].join(" ");
}

/** What is certified is certified to this, in nats. */
const NO_GAP = 1e-8;

function Because({ reason, lang }: { reason: Reason; lang: Lang }): JSX.Element {
  return (
    <li>
      {reason.text[lang]}
      {reason.lifts.map((lift, at) => <div key={at} class="quiet">{said("lift", lang, { text: lift[lang] })}</div>)}
    </li>
  );
}

/** From what is wanted back to the query, where the query does it. */
function WhyQuery({ looking: { session } }: { looking: Looking }): JSX.Element | null {
  const { head, query, lang } = session.choice;
  const lines = whySentences(session.layer.value!, head.value, query.value, lang.value);
  if (lines.length === 0) return null;
  return (
    <details class="why">
      <summary>{said("why", lang.value)}</summary>
      {lines.map(([isEntry, text], at) => <p key={at} class={isEntry ? "entry" : undefined}>{text}</p>)}
    </details>
  );
}
