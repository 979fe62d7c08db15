/** The texts of the comparison, English and Korean on adjacent lines. */
import type { Words } from "../../words";

export const COMPARE: Words = {
  first: ["A", "A"],
  second: ["B", "B"],
  difference: ["B − A", "B − A"],
  needs_two: ["A comparison needs two documents with tokens that stand for each other.", "비교하려면 토큰을 서로 짝지을 수 있는 두 기록이 필요합니다."],
  no_head: ["The other record has no such layer or head.", "다른 기록에는 이 층이나 헤드가 없습니다."],
  aligned: ["Tokens side by side", "나란히 놓은 토큰"],
  only_first: ["only in A", "A에만 있음"],
  only_second: ["only in B", "B에만 있음"],
  same_token: ["in both", "양쪽에 있음"],
  changed_heads: ["Heads by how much they changed", "많이 바뀐 순서로 본 헤드"],
  changed_help: [
    "Mean Jensen–Shannon distance of the matched rows (0 the same, 1 nothing in common), each shared out anew over the matched keys.",
    "짝지은 행들의 평균 옌센–섀넌 거리(0이면 같고 1이면 겹치는 것이 없음). 행마다 짝지은 키끼리 합이 1이 되게 다시 나누어 잽니다.",
  ],
  unmatched: [
    "On tokens that only one text has: mean weight {a} in A, {b} in B.",
    "한쪽에만 있는 토큰에 놓인 평균 가중치: A {a}, B {b}.",
  ],
  layer: ["layer", "층"],
  head: ["head", "헤드"],
  distance: ["distance", "거리"],
  largest: ["largest change", "가장 큰 변화"],
  largest_at: ["{change} at {asks} → {read}", "{change}: {asks} → {read}"],
  none: ["no row can be compared", "비교할 수 있는 행이 없음"],
  counting: ["Counting: {n} of {all} heads …", "계산하는 중: 헤드 {all}개 가운데 {n}개 …"],
  shared_out: ["Share each row out anew over the matched keys", "행마다 짝지은 키끼리 다시 나누기"],
  shared_note: [
    "Before and after are shares of the weight on matched keys; A and B show the models' own weights.",
    "전과 후의 값은 짝지은 키에 놓인 가중치 안에서의 비율입니다. A와 B는 모델의 가중치 그대로입니다.",
  ],
  no_change: [
    "Among the tokens that both texts have, no share changed: what differs went to, or came from, the tokens that only one has.",
    "양쪽에 있는 토큰 사이에서는 비율이 하나도 바뀌지 않았습니다. 달라진 것은 한쪽에만 있는 토큰에 놓인 가중치뿐입니다.",
  ],
  own_note: ["Before and after are the models' own weights.", "전과 후의 값은 모델의 가중치 그대로입니다."],
  cell: ["{asks} → {read}: {a} before, {b} after, {change}", "{asks} → {read}: 전 {a}, 후 {b}, {change}"],
  hatched: ["{asks} → {read}: {why}", "{asks} → {read}: {why}"],
  map_name: ["Weights of {which}, layer {layer}, head {head}", "{which}의 가중치, {layer}층 {head}번 헤드"],
  difference_name: ["What changed from A to B, layer {layer}, head {head}", "A에서 B로 바뀐 것, {layer}층 {head}번 헤드"],
  help: ["Arrow keys choose a cell, with Shift ten at a time.", "화살표 키로 칸을 고르고, Shift를 함께 누르면 열 칸씩 움직입니다."],
  legend: [
    "Orange: more in B. Purple: less. White: the same. The scale reaches ±{top}. Hatched: a token that only one of the texts has.",
    "주황색은 B에서 커진 것, 보라색은 작아진 것, 흰색은 같은 것입니다. 눈금의 끝은 ±{top}입니다. 빗금은 한쪽에만 있는 토큰입니다.",
  ],
  every: ["All {n} heads", "헤드 {n}개 모두"],
  fewer: ["Fewer", "줄이기"],
};
