/** Texts that are written from right to left (Hebrew, Arabic …) inside of others. */

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A text between the signs that keep it apart (U+2068, U+2069), so that two such texts, or one and a number, stand in the
 * order in which they are said. What is between them already, or needs none, stays as it is.
 */
export function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) && !text.includes("\u2068") ? `\u2068${text}\u2069` : text;
}
