import { isolated } from "../../isolated";
import { shown } from "../../explanation/words";
import type { Document, Lang } from "../../engine/record";

/** What a document is called. */
export function titleOf({ title, source, tokens }: Document, lang: Lang): string {
  const said = source.details.sentence || title?.[lang] || title?.en || source.name;
  return said ? shown(said) : tokens(0).slice(0, 8).map(({ label }) => isolated(shown(label.text))).join(" ");
}
