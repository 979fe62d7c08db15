/** Go to a token by what it says, or by its position: as the query that asks, or as the key that is read. */
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import type { Lang, Token } from "../../engine/record";
import { particle, shown } from "../../explanation/words";
import { say } from "../../words";
import { nameOf } from "../tokens";
import { MAP } from "./words";

/** The next token, after `after` and around, in whose text or run of texts this begins; null: none. */
export function found(tokens: readonly Token[], text: string, after: number): number | null {
  const begins: number[] = [];
  let joined = "";
  tokens.forEach(({ label }, at) => {
    const letters = label.part === 1 ? searchable(label.text) : "";
    for (let i = 0; i < letters.length; i++) begins.push(at);
    joined += letters;
  });
  const wanted = searchable(text);
  const places: number[] = [];
  for (let at = joined.indexOf(wanted); at >= 0 && wanted !== ""; at = joined.indexOf(wanted, at + 1)) {
    places.push(begins[at]);
  }
  return places.find((at) => at > after) ?? places[0] ?? null;
}

function nothing(text: string, lang: Lang): string {
  return say(MAP, "found_nothing", lang, { text: shown(text), particle: particle(text, "이/가") });
}

function searchable(text: string): string {
  return text.normalize("NFC").replaceAll("␣", " ").toLowerCase();
}

interface Find {
  readonly tokens: readonly Token[];
  readonly keyTokens: readonly Token[];
  readonly query: number;
  readonly at: number;
  readonly lang: Lang;
  readonly go: (to: { query: number } | { key: number }) => void;
}

export function Find({ tokens, keyTokens, query, at: key, lang, go }: Find): JSX.Element {
  const text = useSignal("");
  const answer = useSignal("");
  const search = (as: "query" | "key"): void => {
    const among = as === "query" ? tokens : keyTokens;
    const wanted = text.value;
    const place = /^#?(\d+)$/.exec(wanted.trim());
    const to = place ? Number(place[1]) : found(among, wanted, as === "query" ? query : key);
    if (wanted === "") answer.value = say(MAP, "nothing_typed", lang);
    else if (to === null) answer.value = nothing(wanted, lang);
    else if (to >= among.length) answer.value = say(MAP, "no_place", lang, { last: among.length - 1 });
    else {
      answer.value = say(MAP, "found", lang, { at: to, token: nameOf(among[to]) });
      go(as === "query" ? { query: to } : { key: to });
    }
  };
  const submitted = (event: SubmitEvent): void => {
    event.preventDefault();
    search((event.submitter as HTMLButtonElement | null)?.value === "key" ? "key" : "query");
  };
  return (
    <form class="find" role="search" onSubmit={submitted}>
      <label>
        {say(MAP, "find", lang)}{" "}
        <input type="search" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
      </label>
      <button type="submit" value="query">
        {say(MAP, "as_query", lang)}
      </button>
      <button type="submit" value="key">
        {say(MAP, "as_key", lang)}
      </button>
      <span role="status" class="quiet">
        {answer.value}
      </span>
    </form>
  );
}
