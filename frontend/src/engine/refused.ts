/** What is typed wrong: a reason and its data. The words are the page's. */

export type Reason =
  | "not_a_number" // {text}
  | "comma" // {text}: a point is meant
  | "not_finite"
  | "too_large" // {most}
  | "not_in_range" // {what: "scale" | "temperature" | "scale/temperature", least, most}
  | "not_yes_or_no"
  | "not_text"
  | "too_long" // {most}: characters
  | "no_name"
  | "name_twice" // {name}
  | "unnamed" // dimensions have no names, so none can be renamed
  | "last_token"
  | "last_dimension"
  | "too_many_tokens" // {most}
  | "too_many_dimensions" // {most}
  | "no_such_place" // {what}
  | "no_such_table" // {what, layer}
  | "chained" // {layer}: its x is made by the layer before
  | "nothing_allowed" // {layer}: no token may read any
  | "rotary" // {layer}: rotation turns the dimensions in pairs
  | "joined_heads" // {layer}: the output is several heads side by side, which share its dimensions
  | "wanted_range" // a wanted weight is from 0 to 1
  | "wanted_sum" // {taken, most}: the other wanted weights of the row take so much, and at most so much is left
  | "wanted_rest" // {rest}: no other key would take the rest
  | "overflow" // {layer, stage}: a number of this stage would not fit
  | "damaged" // an address that was cut or changed
  | "another_example"; // an address that was made from another example

export class Refused extends Error {
  constructor(
    readonly reason: Reason,
    readonly data: Readonly<Record<string, string | number>> = {},
  ) {
    super(reason);
  }
}

/** Products of three such numbers are finite. */
export const LARGEST = 1e100;
/** A scale or a temperature, as in Python (path/checked.py). */
export const SCALES = [1e-30, 1e30] as const;
export const LONGEST = 200;

/** The number that a text says; − and full-width digits are fine, a comma is not. */
export function numberOf(text: string): number {
  const plain = text.normalize("NFKC").trim().replace("\u2212", "-");
  if (/^[+-]?\d+,\d+$/.test(plain)) throw new Refused("comma", { text });
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) throw new Refused("not_a_number", { text });
  return finite(Number(plain));
}

export function finite(value: unknown): number {
  if (typeof value !== "number") throw new Refused("not_a_number", { text: String(value) });
  if (Number.isNaN(value)) throw new Refused("not_finite");
  if (Math.abs(value) > LARGEST) throw new Refused("too_large", { most: LARGEST });
  return value === 0 ? 0 : value; // no −0: it would be shown and written with a sign
}

export function inRange(what: string, value: unknown): number {
  const [least, most] = SCALES;
  const number = finite(value);
  if (!(least <= number && number <= most)) throw new Refused("not_in_range", { what, least, most });
  return number;
}

/** Text in NFC, so that decomposed Hangul is the same name as composed. */
export function textOf(text: unknown): string {
  if (typeof text !== "string" || /\p{Surrogate}/u.test(text)) throw new Refused("not_text");
  const normal = text.normalize("NFC");
  if ([...normal].length > LONGEST) throw new Refused("too_long", { most: LONGEST });
  return normal;
}

/** A place from 0 to before `n`. */
export function placeOf(what: string, at: unknown, n: number): number {
  if (typeof at !== "number" || !Number.isInteger(at) || at < 0 || at >= n)
    throw new Refused("no_such_place", { what });
  return at;
}
