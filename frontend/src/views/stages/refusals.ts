/** What is said to a person whose edit cannot be: what is wrong, and what would be right. */
import { fill } from "../../explanation/words";
import type { Lang } from "../../engine/record";
import type { Reason, Refused } from "../../engine/sheet";

const REFUSALS: Readonly<Record<Reason, readonly [en: string, ko: string]>> = {
  not_a_number: ["{text:e} is not a number. Type one such as 1.5 or -2.", "{text:e}: 숫자가 아닙니다. 1.5나 -2처럼 입력하십시오."],
  comma: ["Write the decimals after a point: 1.5, not 1,5.", "소수는 쉼표가 아니라 점으로 씁니다. 예: 1.5"],
  not_finite: ["This is not a number.", "숫자가 아닙니다."],
  too_large: ["This number is too large: at most {most:n}.", "숫자가 너무 큽니다. {most:n}까지 쓸 수 있습니다."],
  not_in_range: ["It must lie between {least:n} and {most:n}.", "{least:n}에서 {most:n} 사이여야 합니다."],
  not_yes_or_no: ["A key is hidden or not; there is nothing between.", "키는 가려지거나 보이거나 둘 중 하나입니다."],
  not_text: ["This is not a text that can be kept.", "저장할 수 없는 글자가 있습니다."],
  too_long: ["At most {most:int} characters.", "{most:int}글자까지 쓸 수 있습니다."],
  no_name: ["A dimension needs a name.", "차원에는 이름이 있어야 합니다."],
  name_twice: ["{name:e} is the name of another dimension.", "{name:e}: 다른 차원의 이름입니다."],
  unnamed: ["The dimensions of this example have no names.", "이 예제의 차원에는 이름이 없습니다."],
  last_token: ["One token must stay.", "토큰이 하나는 있어야 합니다."],
  last_dimension: ["One dimension must stay.", "차원이 하나는 있어야 합니다."],
  too_many_tokens: ["At most {most:int} tokens.", "토큰은 {most:int}개까지 쓸 수 있습니다."],
  too_many_dimensions: ["At most {most:int} dimensions.", "차원은 {most:int}개까지 쓸 수 있습니다."],
  no_such_place: ["This place is no longer there.", "그 자리가 더는 없습니다."],
  no_such_table: ["This table is no longer there.", "그 표가 더는 없습니다."],
  chained: [
    "This x is made by the layer before. Edit that layer, or the weights.",
    "이 x는 앞 층이 만든 것입니다. 앞 층이나 가중치 행렬을 고치십시오.",
  ],
  nothing_allowed: ["Then no token could read any. One must stay open.", "그러면 볼 수 있는 토큰이 하나도 없게 됩니다. 하나는 남겨 두십시오."],
  rotary: [
    "This layer turns its dimensions in pairs (rotary positions), so none can be added, removed or moved.",
    "이 층은 차원을 둘씩 돌리므로(회전 위치 인코딩) 차원을 추가하거나 지우거나 옮길 수 없습니다.",
  ],
  joined_heads: [
    "The heads stand side by side in the output and share its dimensions, so these stay as they are.",
    "여러 헤드가 출력의 차원을 나누어 쓰므로 차원을 바꿀 수 없습니다.",
  ],
  wanted_range: ["A wanted weight is a number from 0 to 1.", "바라는 가중치는 0부터 1까지의 숫자입니다."],
  wanted_sum: [
    "The other set keys take {taken:n}, so at most {most:n} is left. Lower one of them, or set it free.",
    "정해 둔 다른 키의 합이 {taken:n}이므로 {most:n}까지만 남습니다. 그 가운데 하나를 줄이거나 자유롭게 두십시오.",
  ],
  wanted_rest: [
    "No other key would take the remaining {rest:n}. Set one free first.",
    "나머지 {rest:을/를} 가질 키가 없습니다. 먼저 다른 키를 하나 자유롭게 두십시오.",
  ],
  overflow: ["With this number the result would be too large to compute.", "이 숫자로는 결과가 너무 커져 계산할 수 없습니다."],
  damaged: ["The link was cut or changed.", "링크가 잘렸거나 바뀌었습니다."],
  another_example: ["The link was made from another example.", "다른 예제에서 만든 링크입니다."],
};

export function refusal(refused: Refused, lang: Lang): string {
  return fill(REFUSALS[refused.reason][lang === "en" ? 0 : 1], refused.data, lang);
}
