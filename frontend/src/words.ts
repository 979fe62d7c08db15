/** The texts of every page, and of the frame around the views, English and Korean on adjacent lines; each view has its own beside it. */
import type { Lang } from "./engine/record";
import { isolated } from "./isolated";

/** name → [English, Korean] */
export type Words = Readonly<Record<string, readonly [string, string]>>;

/** A text in a language, `{name}` filled from data. */
export function say(words: Words, name: string, lang: Lang, data: Readonly<Record<string, string | number>> = {}): string {
  const text = words[name][lang === "en" ? 0 : 1];
  return text.replace(/\{(\w+)\}/g, (_, key: string) => isolated(String(data[key])));
}

/** What the other programs say as well; they leave out what is not theirs. */
export const COMMON: Words = {
  language: ["Language", "언어"],
  theme: ["Colours", "색"],
  auto: ["as the system", "시스템대로"],
  light: ["light", "밝게"],
  dark: ["dark", "어둡게"],
  link: ["Copy link", "링크 복사"],
  linked: ["The link is copied.", "링크를 복사했습니다."],
  not_copied: ["Copying was refused. Here it is, to copy by hand:", "복사할 수 없었습니다. 아래 내용을 직접 복사하십시오:"],
  failed: ["This page cannot be shown: {reason}", "이 페이지를 보여 줄 수 없습니다: {reason}"],
  title_more: ["The whole title", "제목 전체 보기"],
  title_less: ["Fewer lines of the title", "제목 줄여 보기"],
};

/** What is said around a record. */
export const FRAME: Words = {
  stages: ["Stages", "단계"],
  heads: ["Heads", "헤드"],
  map: ["Map", "지도"],
  compare: ["Compare", "비교"],
  views: ["Views", "보기"],
  undo: ["Undo", "되돌리기"],
  redo: ["Redo", "다시 하기"],
  reset: ["Reset", "처음으로"],
  file: ["Copy as example file", "예제 파일로 복사"],
  filed: ["The example file is copied.", "예제 파일을 복사했습니다."],
  close: ["Close", "닫기"],
  query: ["Query (who asks)", "쿼리 (묻는 토큰)"],
  key: ["Key (who is read)", "키 (읽히는 토큰)"],
  layer: ["Layer", "층"],
  head: ["Head", "헤드"],
  document: ["Sentence", "문장"],
  unread: [
    "The changes in this link could not be read: these are the numbers that the page came with.",
    "이 링크에 담긴 변경 내용을 읽을 수 없습니다. 보이는 숫자는 페이지가 처음 담고 있던 것입니다.",
  ],
  refused: [
    "Layers that could not be read, and are not shown: {n}. {module}: {why}",
    "읽지 못해 보이지 않는 층: {n}개. {module}: {why}",
  ],
  editing: ["Editing and sharing", "고치기와 나누기"],
  coming: ["This layer is on its way …", "이 층을 가져오는 중입니다 …"],
  rounded: [
    "q and k travel as 16-bit numbers: weights differ by at most {error}.",
    "q와 k를 16비트 정수로 담았습니다. 가중치의 오차는 최대 {error}입니다.",
  ],
  rounded_some: [
    "q and k travel as 16-bit numbers: in the {rows} rows that were compared, weights differ by at most {error}.",
    "q와 k를 16비트 정수로 담았습니다. 비교한 행 {rows}개에서 가중치의 오차는 최대 {error}입니다.",
  ],
  title: ["Self-attention, number by number", "숫자로 보는 셀프 어텐션 (self-attention)"],
};
