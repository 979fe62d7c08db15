/** The texts of the design panel, English and Korean on adjacent lines; filled by explanation's `fill` (particles). */
import { fill, type Data } from "../../explanation/words";
import type { Lang } from "../../engine/record";
import { type Words } from "../../words";

/** A text of the panel in a language, with its data filled in. */
export function said(name: string, lang: Lang, data: Data = {}): string {
  return fill(DESIGN_WORDS[name][lang === "en" ? 0 : 1], data, lang);
}

const DESIGN_WORDS: Words = {
  title: ["Design: say what should be attended to", "설계: 무엇을 얼마나 참고할지 정하기"],
  "other.layer": ["What is wanted is said of the last layer.", "바라는 가중치는 마지막 층에 대해 정합니다."],
  "to.layer": ["Go to layer {layer:int}", "{layer:int}층으로 가기"],
  rows: ["Rows with a wish", "바라는 것이 있는 행"],
  row: ["{query}: {off:e}", "{query:e}: {off:e}"],
  "row.nats": ["{kl:n} nats off", "{kl:n} nat 차이"],
  "row.trouble": ["does not sum to 1", "합이 1이 아님"],
  keys: ["What {query} should attend to", "{query:이/가} 참고할 것"],
  "of.key": ["Key", "키"],
  "of.wanted": ["Wanted", "바라는 값"],
  "of.reached": ["Reached", "나온 값"],
  slider: [
    "{query:e} → {key:e}, wanted {wanted:e}, reached {reached:n}",
    "{query:e} → {key:e}, 바라는 값 {wanted:e}, 나온 값 {reached:n}",
  ],
  field: ["{query:e} → {key:e}: wanted weight", "{query:e} → {key:e}: 바라는 가중치"],
  "is.set": ["{query:e} → {key:e}: set by you", "{query:e} → {key:e}: 직접 정함"],
  set: ["set", "정함"],
  free: ["free", "자유"],
  shares: ["Keys that are not set share evenly what remains of 1.", "정하지 않은 키는 1에서 남는 것을 고르게 나누어 갖습니다."],
  hidden: ["hidden by the mask", "마스크로 가려짐"],
  "hidden.wanted": ["{weight:n} wanted, but hidden by the mask", "{weight:을/를} 바라지만 마스크로 가려짐"],
  drop: ["Drop the wish for {key}", "{key}에 대한 바람 빼기"],
  "row.free": [
    "Nothing is wanted of {query} yet: its row is free. Move a slider to say something.",
    "{query}에는 아직 바라는 것이 없어 행이 자유롭습니다. 슬라이더를 움직여 정해 보십시오.",
  ],
  "row.off": [
    "Wanted beside reached: {kl:n} nats apart (KL divergence). Largest difference: {difference:n}, {key}.",
    "바라는 값과 나온 값의 차이: {kl:n} nat(KL 발산). 가장 크게 다른 것: {key}, {difference:n}.",
  ],
  "row.same": [
    "Wanted and reached are the same to 7 digits: {kl:n} nats apart (KL divergence).",
    "바라는 값과 나온 값이 일곱 자리까지 같습니다. 차이: {kl:n} nat(KL 발산).",
  ],
  "row.zero": [
    "{keys:names}: wanted at exactly 0, which softmax gives only to what the mask hides.",
    "{keys:names}: 정확히 0을 바라고 있습니다. 소프트맥스는 마스크로 가린 것에만 0을 줍니다.",
  ],
  "trouble.sum": [
    "The wanted weights sum to {total:n}, not to 1. Change one, or set one free.",
    "바라는 가중치의 합이 1이 아니라 {total:n}입니다. 하나를 바꾸거나 자유롭게 두십시오.",
  ],
  "trouble.nothing_allowed": [
    "The mask lets {query} read nothing, so nothing can be wanted of it. Leave its row free, or change the mask.",
    "마스크 때문에 {query:이/가} 볼 수 있는 것이 없습니다. 행을 자유롭게 두거나 마스크를 바꾸십시오.",
  ],
  "trouble.all_forbidden": [
    "The mask hides all that {query} should read. Change the row, or the mask.",
    "{query:이/가} 볼 것이 모두 마스크로 가려져 있습니다. 행이나 마스크를 바꾸십시오.",
  ],
  "take.reached": ["Want what is reached now", "지금 나온 값을 그대로 바라기"],
  "leave.free": ["Leave this row free", "이 행을 자유롭게 두기"],

  // Python
  solve: ["Find W_Q and W_K", "W_Q와 W_K 찾기"],
  live: ["at every change", "바꿀 때마다"],
  "keep.keys": ["keep W_K as it stands", "W_K는 그대로 두기"],
  solving: ["Python is looking for W_Q and W_K …", "파이썬이 W_Q와 W_K를 찾고 있습니다 …"],
  late: [
    "Python has not answered yet. It may be busy with another cell; if its kernel has ended, run the cell again.",
    "파이썬이 아직 대답하지 않았습니다. 다른 셀을 실행하는 중일 수 있습니다. 커널이 끝났다면 셀을 다시 실행하십시오.",
  ],
  solved: [
    "Found, and put into the tables: W_Q and W_K are marked where they changed.",
    "찾아서 표에 넣었습니다. W_Q와 W_K에서 바뀐 곳에 표시가 있습니다.",
  ],
  "not.solved": ["Not solved: {reason:as}", "찾지 못했습니다. {reason:as}"],
  "cannot.carry": [
    "this record has something that an example file, which is what Python is given, has no word for ({what:e}).",
    "파이썬에는 예제 파일로 전하는데, 이 기록에는 예제 파일에 쓸 수 없는 것이 있습니다({what:e}).",
  ],
  nothing: ["Nothing is wanted yet.", "아직 바라는 것이 없습니다."],
  offline: [
    "Finding W_Q and W_K for this needs Python: jumok design on a copied example file, or jumok.widget in a notebook.",
    "이에 맞는 W_Q와 W_K를 찾으려면 파이썬이 필요합니다. 예제 파일로 복사해 jumok design을 실행하거나, 노트북에서 jumok.widget으로 여십시오.",
  ],

  // what Python found
  report: ["What the design reached", "설계한 결과"],
  stale: [
    "This was found for other numbers than those shown now.",
    "지금 보이는 숫자가 아니라 고치기 전의 숫자로 얻은 결과입니다.",
  ],
  exact: ["Every wanted row is reached, to 7 digits.", "바라는 행이 모두 일곱 자리까지 그대로 나왔습니다."],
  inexact: [
    "Not every wanted row is reached: {loss:n} nats off in all.",
    "바라는 행이 모두 나오지는 않았습니다. 차이는 모두 {loss:n} nat입니다.",
  ],
  best: ["It is proven that no W_Q and W_K come nearer.", "어떤 W_Q와 W_K로도 더 가까워질 수 없음이 증명됩니다."],
  gap: [
    "It is proven that no W_Q and W_K come nearer by more than {gap:n} nats.",
    "어떤 W_Q와 W_K로도 {gap:n} nat 넘게 더 가까워질 수 없음이 증명됩니다.",
  ],
  ridge: [
    "A weight wanted at 0 would take an infinite W, so W was kept finite (a ridge). A larger W may come nearer.",
    "가중치 0을 바라면 W가 무한히 커져야 하므로 W를 유한하게 묶었습니다(능형 항). W를 더 키우면 더 가까워질 수 있습니다.",
  ],
  unfinished: [
    "The search was stopped early: more time may bring it nearer.",
    "탐색을 도중에 멈추었습니다. 시간을 더 들이면 더 가까워질 수 있습니다.",
  ],
  reasons: ["Why not all of it", "다 되지 않는 까닭"],
  lift: ["What would help: {text:e}", "도움이 될 것: {text:e}"],

  // why this query
  why: ["Why this query?", "왜 이 쿼리일까요?"],
};
