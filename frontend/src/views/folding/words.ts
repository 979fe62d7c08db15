/** What the panel of flash attention says besides the sentences that Python has too. */
import type { Lang } from "../../engine/record";
import { say, type Words } from "../../words";

const FOLDING: Words = {
  coming: ["This layer is on its way …", "이 층을 가져오는 중입니다 …"],
  query: ["Row of", "행"],
  head: ["Head", "헤드"],
  tile: ["Keys of a tile", "타일의 키 수"],
  previous: ["Previous tile", "이전 타일"],
  next: ["Next tile", "다음 타일"],
  step: ["Tile", "타일"],
  at: ["Tile {at} of {n}", "타일 {at} / {n}"],
  divided: ["All {n} tiles: divide", "타일 {n}개 모두: 나누기"],
  tiles: ["Tiles of keys", "키의 타일"],
  folded: ["folded, let go", "접어 넣고 버림"],
  now: ["being read", "읽는 중"],
  later: ["not read yet", "아직 읽지 않음"],
  more: ["{n} more", "{n}개 더"],
  numbers: ["What is kept, before and after this tile", "이 타일 전과 후에 기억하는 것"],
  score: ["score s", "점수 s"],
  before: ["Before this tile", "이 타일을 읽기 전"],
  largest: ["largest: m", "가장 큰 점수 m"],
  sum: ["sum: l", "합 l"],
  value: ["e^(s − m) · value, and their sum", "e^(s − m) · 밸류, 그리고 그 합"],
  rescaled: ["× e^({old} − {new}) = {rescale}", "× e^({old} − {new}) = {rescale}"],
  hidden: ["may not be read", "볼 수 없음"],
  rest: ["{n} more keys", "그 밖의 키 {n}개"],
  after: ["After this tile", "이 타일을 읽은 뒤"],
  last: ["After the last tile", "마지막 타일을 읽은 뒤"],
  row: ["÷ l: the row", "÷ l: 구한 행"],
  full: ["Full attention's row", "전체 어텐션의 행"],
  apart: ["largest difference {apart}", "가장 큰 차이 {apart}"],
  no_values: [
    "The values of this layer did not travel with the page: only m and l can be followed.",
    "이 층의 밸류는 페이지에 담기지 않아 m과 l만 볼 수 있습니다.",
  ],
};

export function told(name: string, lang: Lang, data: Readonly<Record<string, string | number>> = {}): string {
  return say(FOLDING, name, lang, data);
}
