/** The texts of a training run, English and Korean on adjacent lines; filled by explanation's `fill`. */
import { fill, type Data } from "../../explanation/words";
import type { Lang } from "../../engine/record";

/** A text of the panel in a language, with its data filled in. */
export function told(name: keyof typeof WORDS, lang: Lang, data: Data = {}): string {
  return fill(WORDS[name][lang === "en" ? 0 : 1], data, lang);
}

/** A number with digits enough to see a small move, as Python's `.5g`. */
export function digits(value: number): string {
  const rounded = Number(value.toPrecision(5));
  const power = rounded === 0 ? 0 : Math.floor(Math.log10(Math.abs(rounded)));
  if (power >= -4 && power < 5) return String(rounded);
  const [mantissa, exponent] = rounded.toExponential().split("e");
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

const WORDS = {
  title: ["How it was learned", "학습 과정"],
  step: ["Training step", "학습 단계"],
  step_of: ["step {step:int} of {steps:int}", "{steps:int}단계 중 {step:int}단계"],
  spoken: ["step {step:int} of {steps:int}, {values:e}", "{steps:int}단계 중 {step:int}단계, {values:e}"],
  play: ["Play", "재생"],
  pause: ["Pause", "멈춤"],
  before: ["Previous snapshot", "이전 스냅샷"],
  after: ["Next snapshot", "다음 스냅샷"],
  change: ["Moment of change ({step:int})", "바뀌는 순간 ({step:int})"],
  change_of: ["Moment of change of {name:e} ({step:int})", "{name:e}의 바뀌는 순간 ({step:int})"],
  snapshots: [
    "{n:int} snapshots were kept, each of the first steps and then fewer; between two of them the earlier one is shown.",
    "스냅샷은 {n:int}개이고 처음에는 모든 단계, 뒤로 갈수록 드물게 남겼습니다. 그 사이 단계에서는 앞의 스냅샷을 보입니다.",
  ],
  probe: ["Sentence that is looked at", "살펴보는 문장"],
  probe_of: ["Sentence that is looked at, {name:e}", "살펴보는 문장, {name:e}"],
  log: ["Steps on a logarithmic axis", "단계를 로그 축으로"],
  mark: ["Mark what changed since the snapshot before", "이전 스냅샷에서 바뀐 숫자 표시"],
  loss: ["Loss", "손실"],
  shares: ["Held-out accuracy and what the heads read", "뺀 것의 정확도와 헤드가 읽는 곳"],
  norms: ["Norm of each gradient, layer {layer:int}", "기울기의 노름, {layer:int}층"],
  accuracy: ["accuracy", "정확도"],
  nearness: ["nearness to the wanted rows", "바라는 행에 가까운 정도"],
  role_answer: ["weight on what the answer depends on", "답을 정하는 토큰의 가중치"],
  role_previous: ["weight on the token before", "바로 앞 토큰의 가중치"],
  role_reason: ["weight on what tells which one is meant", "무엇을 가리키는지 정해 주는 말의 가중치"],
  role: ["weight on “{name:e}”", "‘{name:e}’의 가중치"],
  of_head: ["{what:as}, layer {layer:int}, head {head:int}", "{what:as}, {layer:int}층 {head:int}번 헤드"],
  others: ["thin lines: other heads", "가는 선: 다른 헤드"],
  chance: ["the most frequent answer", "가장 흔한 답만 낼 때"],
  baseline: ["the best without a look at the tokens", "토큰을 보지 않을 때의 최선"],
  plot: [
    "{what:as} over {steps:int} training steps, from {first:n} to {last:n}",
    "학습 {steps:int}단계 동안의 {what:as}: {first:n}에서 {last:n}",
  ],
  of_step: ["(step {step:int})", "({step:int}단계)"],
  unmeasured: ["not measured", "재지 않음"],
  matrices: ["How the weights move, layer {layer:int}", "가중치가 움직이는 모습, {layer:int}층"],
  show: ["Shown", "보는 것"],
  now: ["weights at this step", "이 단계의 가중치"],
  start: ["change since the start", "처음부터 바뀐 것"],
  last: ["change since the snapshot before", "이전 스냅샷에서 바뀐 것"],
  matrix: [
    "{name:e}, {rows:int} rows and {columns:int} columns: {what:as}; largest {largest:n}, Frobenius norm {norm:n}",
    "{name:e}, {rows:int}행 {columns:int}열: {what:as}. 가장 큰 값 {largest:n}, 프로베니우스 노름 {norm:n}",
  ],
  norm: ["‖·‖ {norm:n}, largest {largest:n}", "‖·‖ {norm:n}, 최대 {largest:n}"],
  attention: ["Attention", "어텐션"],
  attention_of: [
    "attention weights of layer {layer:int}, head {head:int}: {rows:int} queries, {columns:int} keys; the chosen query reads {key:e} most, {weight:n}",
    "{layer:int}층 {head:int}번 헤드의 어텐션 가중치: 쿼리 {rows:int}개, 키 {columns:int}개. 고른 쿼리가 가장 많이 참고하는 키는 {key:e}, {weight:n}",
  ],
  reads_most: ["{query:e} → {key:e} {weight:n}", "{query:e} → {key:e} {weight:n}"],
  scale: [
    "Purple is below 0, orange above; the same scale at every step, up to ±{top:n}. Rows are dimensions of x.",
    "보라는 0보다 작고 주황은 큽니다. 모든 단계에서 같은 눈금(±{top:n}까지)을 씁니다. 행은 x의 차원입니다.",
  ],
  rounded: [
    "x, the weights and the gradients of this run travel as 16-bit numbers with one scale a row: over all snapshots, attention weights differ by at most {error:n} from the run's own.",
    "이 학습의 x와 가중치, 기울기를 행마다 배율 하나를 둔 16비트 정수로 담았습니다. 모든 스냅샷에서 어텐션 가중치의 오차는 최대 {error:n}입니다.",
  ],
  why: ["Why it moves: the gradient of this step", "왜 움직이는가: 이 단계의 기울기"],
  of_matrix: ["Matrix", "행렬"],
  entry: ["Entry", "성분"],
  moved: ["the one that moved most", "가장 많이 움직인 곳"],
  steepest: ["the one with the largest gradient", "기울기가 가장 큰 곳"],
  moved_most: [
    "{matrix:e} moved most in row {row:dim}, column {column:int}: {before:e} → {after:e} ({change:e}).",
    "{matrix:e}에서 가장 많이 움직인 곳은 {row:dim} 행, {column:int}열입니다: {before:e} → {after:e} ({change:e}).",
  ],
  until: [
    "That is over {n:int} steps, until the next snapshot (step {to:int}).",
    "다음 스냅샷({to:int}단계)까지 {n:int}단계 동안 움직인 것입니다.",
  ],
  still: ["{matrix:e} did not move.", "{matrix:e}는 움직이지 않았습니다."],
  last_one: ["This is the last snapshot: nothing moves any more.", "마지막 스냅샷입니다. 더 움직이지 않습니다."],
  none: [
    "dL/d{matrix:e} = 0: nothing here asks for a change of it.",
    "dL/d{matrix:e} = 0입니다. 여기에는 바꿀 까닭이 없습니다.",
  ],
  outer: [
    "dL/d{matrix:e} = Σ over tokens of x ⊗ dL/d{part:e}, an outer product each. Here it is in row {row:dim}, column {column:int}, of the loss on this sentence alone (numbers are rounded):",
    "dL/d{matrix:e} = 토큰마다 x ⊗ dL/d{part:e}(외적)를 구해 더한 것입니다. 이 문장만의 손실에 대해 {row:dim} 행, {column:int}열에서 보면 다음과 같습니다(수는 반올림했습니다).",
  ],
  token: ["token", "토큰"],
  x_in: ["x, {row:dim}", "x, {row:dim}"],
  slope: ["dL/d{part:e}, head {head:int}, column {column:int}", "dL/d{part:e}, {head:int}번 헤드 {column:int}열"],
  product: ["x × dL/d{part:e}", "x × dL/d{part:e}"],
  others_sum: ["the other {n:int} tokens together", "나머지 토큰 {n:int}개의 합"],
  entry_sum: ["sum: dL/d{matrix:e} here", "합: 이 성분의 dL/d{matrix:e}"],
  plain: [
    "It moved by −{learning_rate:n} × {gradient:e}: plain gradient descent, −(learning rate) × dL/dW.",
    "−{learning_rate:n} × {gradient:e}만큼 움직였습니다. 곧 −(학습률) × dL/dW인 경사 하강법입니다.",
  ],
  batch: [
    "The step follows the gradient of its whole batch, not of this sentence alone, and an optimizer such as Adam divides each entry's gradient by its usual size: the entry that moved most need not have the largest gradient here.",
    "이 단계는 이 문장만이 아니라 묶음(batch) 전체의 기울기를 따르고, Adam 같은 최적화 방법은 성분마다 기울기를 평소 크기로 나눕니다. 그래서 가장 많이 움직인 곳이 여기서 기울기가 가장 큰 곳은 아닐 수 있습니다.",
  ],
  all_of_it: ["From the output back to the weights, stage by stage:", "출력부터 가중치까지 되짚어 모두 보기:"],
  carrier: [
    "The head that carries it: layer {layer:int}, head {head:int}",
    "이 일을 맡은 헤드: {layer:int}층 {head:int}번 헤드",
  ],
} as const;
