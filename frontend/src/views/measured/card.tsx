/** The card of the chosen head: what it does in sentences, its numbers, real examples. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import type { Lang } from "../../engine/record";
import { number, shown } from "../../explanation/words";
import { say } from "../../words";
import type { Choice } from "./choice";
import { leap } from "./map";
import { inLanguage, type Example, type Label, type Measured, type Sentence } from "./measured";
import { NumberCells, NumberHeads } from "./numbers";
import { MEASURED } from "./words";

const FEW_ROWS = 8;
/** Of a long sentence so many tokens are shown on each side of what is marked. */
const AROUND = 20;
const LONG = 80;

export function HeadCard({ choice }: { choice: Choice }): JSX.Element {
  const lang = choice.lang.value;
  const at = choice.card.value;
  const { layer, head, said } = choice.measured.told.cards[at];
  return (
    <section class="card" aria-labelledby="card-title">
      <h2 id="card-title" tabIndex={-1}>{say(MEASURED, "card", lang, { layer, head })}</h2>
      {said[lang].map((sentence, of) => <p key={of} class={of === 0 ? "verdict" : undefined}>{sentence}</p>)}
      <Parts key={at} choice={choice} at={at} />
      <p><a class="to-card" href="#" onClick={(event) => leap(event, "map-title")}>{say(MEASURED, "back", lang)}</a></p>
    </section>
  );
}

/** What is asked of one head: it begins anew with another one. */
function Parts({ choice: { measured, lang: { value: lang } }, at }: { choice: Choice; at: number }): JSX.Element | null {
  const role = useSignal(measured.told.cards[at].told);
  const isAll = useSignal(false);
  const rows = measured.rowsOf(at);
  if (rows.length === 0) return null;
  const some = isAll.value ? rows : rows.slice(0, FEW_ROWS);
  return (
    <>
      <Examples measured={measured} at={at} role={role.value} lang={lang} />
      <h3 id="card-numbers">{say(MEASURED, "numbers", lang)}</h3>
      <div class="scrolls" tabIndex={0} role="region" aria-labelledby="card-numbers">
        <table class="numbers">
          <thead><tr><th scope="col">{say(MEASURED, "column_role", lang)}</th><NumberHeads lang={lang} /></tr></thead>
          <tbody>
            {some.map((row) => (
              <tr key={row} class={measured.columns.role[row] === role.value ? "chosen" : undefined}>
                <th scope="row"><RoleName measured={measured} at={at} row={row} lang={lang} choose={(one) => (role.value = one)} /></th>
                <NumberCells measured={measured} row={row} lang={lang} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > FEW_ROWS && (
        <button type="button" aria-expanded={isAll.value} onClick={() => (isAll.value = !isAll.value)}>
          {say(MEASURED, isAll.value ? "few_roles" : "all_roles", lang, { n: rows.length })}
        </button>
      )}
    </>
  );
}

interface RoleNameGiven {
  readonly measured: Measured;
  readonly at: number;
  readonly row: number;
  readonly lang: Lang;
  readonly choose: (role: number) => void;
}

/** The title of a role; where it has examples, the way to them. */
function RoleName({ measured, at, row, lang, choose }: RoleNameGiven): JSX.Element {
  const role = measured.columns.role[row];
  const title = inLanguage(measured.told.roles[role].title, lang);
  if (measured.examples(at, role).length === 0) return <>{title}</>;
  return (
    <button type="button" class="plain" aria-label={say(MEASURED, "examples_of", lang, { title })} onClick={() => choose(role)}>
      {title}
    </button>
  );
}

// examples -----------------------------------------------------------------------------------------

interface ExamplesGiven {
  readonly measured: Measured;
  readonly at: number;
  readonly role: number;
  readonly lang: Lang;
}

function Examples({ measured, at, role, lang }: ExamplesGiven): JSX.Element | null {
  if (role < 0) return null;
  const examples = measured.examples(at, role);
  const title = inLanguage(measured.told.roles[role].title, lang);
  return (
    <>
      <h3 id="card-examples">{say(MEASURED, "examples", lang, { title })}</h3>
      {examples.length === 0 ? <p class="quiet">{say(MEASURED, "no_examples", lang)}</p> : (
        <>
          <ol class="examples" aria-labelledby="card-examples">
            {examples.map((one, of) => <One key={of} example={one} sentence={measured.told.sentences[one[2]]} lang={lang} />)}
          </ol>
          <p class="quiet">{say(MEASURED, "examples_how", lang)}</p>
        </>
      )}
    </>
  );
}

function One({ example: [, , , query, key, weight], sentence, lang }: { example: Example; sentence: Sentence; lang: Lang }): JSX.Element {
  const { tokens, name } = sentence;
  const marked = [...query, ...key];
  const isLong = tokens.length > LONG;
  const first = isLong ? Math.max(0, Math.min(...marked) - AROUND) : 0;
  const last = isLong ? Math.min(tokens.length, Math.max(...marked) + AROUND + 1) : tokens.length;
  const said = { query: joined(query.map((at) => tokens[at])), key: joined(key.map((at) => tokens[at])), weight: number(weight) };
  return (
    <li>
      <p class="tokens" dir="auto">
        {first > 0 && "… "}
        {tokens.slice(first, last).map((token, of) => (
          <TokenMark key={of} token={token} isQuery={query.includes(first + of)} isKey={key.includes(first + of)} lang={lang} />
        ))}
        {last < tokens.length && " …"}
      </p>
      <p class="quiet"><bdi>{say(MEASURED, "weighs", lang, said)}</bdi> · <bdi>{shown(name)}</bdi></p>
    </li>
  );
}

/** A token; the one that asks has a frame and a Q, the one that is read a ground and a K. */
function TokenMark({ token, isQuery, isKey, lang }: { token: Label; isQuery: boolean; isKey: boolean; lang: Lang }): JSX.Element {
  const isMark = typeof token !== "string" && token[3];
  const classes = ["token", isMark && "special", isQuery && "asks", isKey && "read"].filter(Boolean).join(" ");
  const part = typeof token !== "string" && token[2] > 1 ? `${token[1]}/${token[2]}` : "";
  return (
    <>
      <span class={classes}>
        <bdi>{textOfLabel(token)}</bdi>
        {part !== "" && <sub class="part">{part}</sub>}
        {isQuery && <Sign letter="Q" name={say(MEASURED, "asks", lang)} />}
        {isKey && <Sign letter="K" name={say(MEASURED, "read", lang)} />}
      </span>{" "}
    </>
  );
}

function Sign({ letter, name }: { letter: string; name: string }): JSX.Element {
  return <sup class="sign"><span aria-hidden="true">{letter}</span><span class="visually-hidden"> ({name}) </span></sup>;
}

/** Pieces as one text: those of one character show it once; where one of them stands alone, which one it is. */
function joined(labels: readonly Label[]): string {
  const texts = labels.map((label, at) => {
    if (typeof label === "string" || label[2] === 1) return textOfLabel(label);
    const isAlone = labels.length === 1;
    return at > 0 && label[1] > 1 ? "" : textOfLabel(label) + (isAlone ? ` (${label[1]}/${label[2]})` : "");
  });
  return texts.join("");
}

function textOfLabel(token: Label): string {
  return shown(typeof token === "string" ? token : token[0]);
}
