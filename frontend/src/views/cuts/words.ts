/** The texts about cuts, English and Korean on adjacent lines. */
import type { Words } from "../../words";

export const CUTS: Words = {
  title: ["What the model does without it", "끊었을 때 달라지는 것"],
  next: ["Next token after #{position} {token}", "#{position} {token} 다음에 올 토큰"],
  word: ["Token at #{position} {token}", "#{position} {token} 자리에 올 토큰"],
  moved: [
    "{moved} of the probability goes elsewhere, the logits move by {logits}.",
    "확률의 {moved}가 다른 토큰으로 옮겨 가고 로짓은 {logits}만큼 움직입니다.",
  ],
  vectors: ["Output vectors that move most", "가장 많이 움직이는 출력 벡터"],
  token: ["token", "토큰"],
  before: ["with it", "있을 때"],
  after: ["without it", "없을 때"],
  norm: ["moves by", "거리"],
  relative: ["of its length", "길이 대비"],
  cosine: ["cosine", "코사인"],
  rounded: ["Numbers are rounded.", "숫자는 반올림한 것입니다."],
  none: ["This weight has not been cut here.", "이 가중치를 끊은 결과는 여기에 없습니다."],
  how: [
    "To see it, run the model again: in Python, with reading = jumok.capture(model, text),",
    "보려면 모델을 다시 실행합니다. Python에서는 reading = jumok.capture(model, text) 다음에",
  ],
  or: ["or in a terminal", "터미널에서는"],
  cut: ["Cut this weight", "이 가중치 끊기"],
  renormalise: ["share the rest of the row out anew", "행의 나머지를 다시 나누기"],
  asking: ["Python is running the model with and without this weight …", "Python에서 이 가중치가 있을 때와 없을 때의 모델을 실행하고 있습니다 …"],
  late: ["Still running: a large model takes a while.", "아직 실행하고 있습니다. 큰 모델은 시간이 걸립니다."],
  wrong: ["It could not be cut: {reason}", "끊지 못했습니다: {reason}"],
  list: ["Cuts in this page", "이 페이지에 있는 끊기"],
  place: ["Layer {layer}, head {head}: {what}", "{layer}층 {head}번 헤드: {what}"],
  arrow: ["{query} → {key} {weight}", "{query} → {key} {weight}"],
  every: ["every token", "모든 토큰"],
  row: ["the row of {query}", "{query}의 행"],
  head: ["the whole head", "헤드 전체"],
  renormalised: ["{name}, renormalised", "{name}, 다시 나눔"],
  mean: ["{name}, mean in its place", "{name}, 평균으로 바꿈"],
};
