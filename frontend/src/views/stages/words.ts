/** The texts of the stage view, English and Korean on adjacent lines; filled by explanation's `fill` (particles). */
import { fill, type Data } from "../../explanation/words";
import type { Lang } from "../../engine/record";
import { type Words } from "../../words";

/** A text of this view in a language, with its data filled in: `{token:은/는}`, `{n:int}`, `{name:e}`. */
export function told(name: string, lang: Lang, data: Data = {}): string {
  return fill(STAGES_WORDS[name][lang === "en" ? 0 : 1], data, lang);
}

const STAGES_WORDS: Words = {
  // the titles of the stations
  "title.x": ["Embeddings", "임베딩"],
  "title.w_q": ["Matrix for queries", "쿼리를 만드는 행렬"],
  "title.w_k": ["Matrix for keys", "키를 만드는 행렬"],
  "title.w_v": ["Matrix for values", "밸류를 만드는 행렬"],
  "title.w_o": ["Matrix that joins the heads", "헤드를 합치는 행렬"],
  "title.q": ["Queries", "쿼리"],
  "title.k": ["Keys", "키"],
  "title.v": ["Values", "밸류"],
  "title.scores": ["Scores", "점수"],
  "title.scaled": ["Scaled scores", "나눈 점수"],
  "title.allowed": ["Mask", "마스크"],
  "title.weights": ["Attention weights", "어텐션 가중치"],
  "title.weighted_values": ["Weighted values", "가중치 × 밸류"],
  "title.mixed": ["Weighted sum", "가중합"],
  "title.output": ["Output", "출력"],
  "of.query": ["for the query {query}", "쿼리 {query}"],
  road: ["The road from X to the output", "X에서 출력까지의 길"],
  formula: ["Formula", "수식"],
  "go.to": ["{title:e}: go there", "{title:e} 단계로 가기"],

  // the names of cells; the number follows
  "cell.x": ["x of {row}, {column:e}:", "{row}의 x, {column:e}:"],
  "cell.w": ["{matrix:e}, row {row:e}, column {column:e}:", "{matrix:e}의 {row:e} 행, {column:e} 열:"],
  "cell.q": ["Q of {row}, {column:e}:", "{row}의 Q, {column:e}:"],
  "cell.k": ["K of {row}, {column:e}:", "{row}의 K, {column:e}:"],
  "cell.v": ["V of {row}, {column:e}:", "{row}의 V, {column:e}:"],
  "cell.scores": ["score of {row} with {column}:", "{row:과/와} {column}의 점수:"],
  "cell.scaled": ["scaled score of {row} with {column}:", "{row:과/와} {column}의 나눈 점수:"],
  "cell.allowed": ["{row} may read {column}", "{row:은/는} {column:을/를} 볼 수 있음"],
  "cell.hidden": ["{row} may not read {column}: hidden by the mask", "{row:은/는} {column:을/를} 볼 수 없음: 마스크로 가려짐"],
  "cell.weights": ["{row} attends to {column},", "{row:이/가} {column:을/를} 참고하는 가중치"],
  "cell.weights.hidden": [
    "{row} does not attend to {column}, hidden by the mask:",
    "{row:은/는} {column:을/를} 참고하지 않음, 마스크로 가려짐:",
  ],
  "cell.weighted_values": ["what {row} hands over to {query}, {column:e}:", "{row:이/가} {query}에게 전달하는 것, {column:e}:"],
  "cell.mixed": ["weighted sum of {row}, {column:e}:", "{row}의 가중합, {column:e}:"],
  "cell.output": ["output of {row}, {column:e}:", "{row}의 출력, {column:e}:"],
  "head.dimension": ["head\u00a0{head:int}, dim\u00a0{number:int}", "헤드\u00a0{head:int}, 차원\u00a0{number:int}"],
  rest: ["others", "나머지"],

  // what the chosen are
  choices: ["What is looked at", "보고 있는 것"],
  "layer.n": ["Layer {n:int}", "{n:int}층"],
  "head.n": ["Head {n:int}", "헤드 {n:int}"],

  // walking
  walk: ["Walk through the stages", "단계 따라가기"],
  previous: ["Previous stage", "이전 단계"],
  next: ["Next stage", "다음 단계"],
  play: ["Play", "재생"],
  pause: ["Pause", "멈춤"],
  "at.stage": ["Stage {n:int} of {of:int}", "{of:int}단계 가운데 {n:int}단계"],
  whole: ["The whole explanation for {token}", "{token}에 대한 설명 전체"],

  // where a number comes from
  origin: ["Where does this number come from?", "이 숫자는 어디에서 왔을까요?"],
  fold: ["Explanation", "설명"],
  back: ["Back", "뒤로"],
  "origin.hint": [
    "Point at a number, tap it, or move to it with the arrow keys. Every number in the arithmetic leads further back.",
    "숫자에 마우스를 올리거나, 누르거나, 화살표 키로 옮겨 가십시오. 계산 속의 숫자를 누르면 그 숫자가 온 곳으로 갑니다.",
  ],
  "origin.given": ["This number is given by the example; nothing makes it.", "예제가 정한 숫자입니다. 계산해서 나온 값이 아닙니다."],
  "origin.editable": ["You can change it: type a number, or drag.", "바꿀 수 있습니다. 숫자를 입력하거나 좌우로 끌어 보십시오."],
  "origin.rounded": ["Shown rounded; in full:", "반올림해 보여 준 값입니다. 전체 자릿수:"],
  "origin.changed": ["Before the last edit: {before:e} → now: {after:e}", "마지막 편집 전: {before:e} → 지금: {after:e}"],
  "origin.more": ["(… the other {n:int} sum to {sum:n})", "(… 나머지 {n:int}개의 합 {sum:n})"],
  "origin.bias": ["(bias)", "(바이어스)"],
  "origin.sink": ["(sink)", "(싱크)"],
  "origin.code": ["(position code)", "(위치 코드)"],
  "origin.residual": ["(x, residual)", "(x, 잔차 연결)"],
  "origin.output": ["(output of the layer before)", "(앞 층의 출력)"],
  "origin.softcap": ["(soft cap)", "(소프트 캡)"],
  "origin.temperature": ["(temperature)", "(온도)"],
  "origin.position": ["(position bias)", "(위치 편향)"],
  "origin.turned": [
    "Turned by its position ({position:int}): {angle:n} radians",
    "위치({position:int})만큼 회전: {angle:n}라디안",
  ],
  "origin.own": ["where {name:dim} before the turn is", "회전하기 전의 {name:dim}:"],
  "origin.hidden": ["The mask hides this key, so its weight is 0.", "마스크가 이 키를 가리므로 가중치는 0입니다."],
  "origin.top": [
    "{top:n} is the largest score of the row; taking it off changes no share.",
    "{top:n}: 이 행에서 가장 큰 점수입니다. 빼도 몫은 그대로입니다.",
  ],
  "origin.n_hidden": ["{n:int} hidden by the mask take no part.", "마스크로 가려진 {n:int}개는 빠집니다."],
  "origin.joined": ["The same number as in the weighted sum of head {head:int}", "헤드 {head:int}의 가중합에 있는 숫자입니다"],

  // what a rule says of a query and a key
  "rule.everything": ["Every query may read every key.", "모든 쿼리가 모든 키를 볼 수 있습니다."],
  "rule.table.yes": ["The mask’s table lets it be read.", "마스크 표에서 볼 수 있게 되어 있습니다."],
  "rule.table.no": ["The mask’s table hides it.", "마스크 표에서 가려져 있습니다."],
  "rule.causal.yes": [
    "Causal: key {key:int} does not come after query {query:int}, so it may be read.",
    "인과 마스크: {key:int}번 키는 {query:int}번 쿼리보다 뒤에 있지 않으므로 볼 수 있습니다.",
  ],
  "rule.causal.no": [
    "Causal: key {key:int} comes after query {query:int}, so it is hidden.",
    "인과 마스크: {key:int}번 키는 {query:int}번 쿼리보다 뒤에 있으므로 가려집니다.",
  ],
  "rule.window.yes": [
    "Window: {n_back:int} back, {n_ahead:int} ahead. This key is {distance:e}, so it may be read.",
    "윈도우: 앞쪽 {n_back:int}개, 뒤쪽 {n_ahead:int}개까지. 이 키는 {distance:e}이므로 볼 수 있습니다.",
  ],
  "rule.window.no": [
    "Window: {n_back:int} back, {n_ahead:int} ahead. This key is {distance:e}, so it is hidden.",
    "윈도우: 앞쪽 {n_back:int}개, 뒤쪽 {n_ahead:int}개까지. 이 키는 {distance:e}이므로 가려집니다.",
  ],
  "rule.back": ["{n:int} back", "{n:int}개 앞"],
  "rule.ahead": ["{n:int} ahead", "{n:int}개 뒤"],
  "rule.padding.yes": ["This key is no padding, so it may be read.", "이 키는 패딩이 아니므로 볼 수 있습니다."],
  "rule.padding.no": ["This key is padding, so it is hidden.", "이 키는 패딩이므로 가려집니다."],
  "rule.document.yes": [
    "Query and key stand in the same document ({key:int}), so it may be read.",
    "쿼리와 키가 같은 문서({key:int})에 있으므로 볼 수 있습니다.",
  ],
  "rule.document.no": [
    "The query stands in document {query:int}, the key in {key:int}, so it is hidden.",
    "쿼리는 문서 {query:int}, 키는 문서 {key:int}에 있으므로 가려집니다.",
  ],
  "rule.both": ["Both must allow it:", "둘 다 허락해야 합니다:"],
  "rule.either": ["One of these must allow it:", "둘 가운데 하나가 허락하면 됩니다:"],

  // what an edit did, for ears
  "edited.others": ["Other numbers changed: {n:int}.", "함께 바뀐 숫자: {n:int}개."],
  "edited.numbers": ["Numbers changed: {n:int}.", "바뀐 숫자: {n:int}개."],

  // editing
  "edit.keys": ["Keys and mouse", "키와 마우스"],
  "edit.change": ["New value", "새 값"],
  scale: ["Scale", "스케일"],
  "scale.own": ["a number", "직접 정하기"],
  "scale.value": ["Scale (the score is multiplied by it)", "스케일 (점수에 곱하는 값)"],
  temperature: ["Temperature", "온도 (temperature)"],
  "not.editable": ["These numbers can be looked at, not edited: {reason:e}", "이 숫자는 볼 수만 있고 고칠 수는 없습니다. {reason:e}"],
  "not.editable.parts": ["x or the weights are not in this record.", "x나 가중치 행렬이 이 기록에 없기 때문입니다."],
  "not.editable.large": ["the record is too large to be edited by hand.", "손으로 고치기에는 기록이 너무 크기 때문입니다."],
  "not.editable.moves": ["the training made them.", "학습이 정한 숫자이기 때문입니다."],
  "layer.made": [
    "The x of this layer is the output of the layer before; edit that one, or the weights here.",
    "이 층의 x는 앞 층의 출력입니다. 앞 층이나 이 층의 가중치 행렬을 고쳐 보십시오.",
  ],
  "window.tokens": [
    "{shown:int} of {n:int} tokens are shown: the chosen ones, their neighbours and the keys with the largest weights.",
    "토큰 {n:int}개 가운데 {shown:int}개만 보여 줍니다. 고른 토큰과 그 이웃, 가중치가 가장 큰 키입니다.",
  ],
  "window.dimensions": [
    "The first {shown:int} of {n:int} dimensions are shown.",
    "차원 {n:int}개 가운데 처음 {shown:int}개를 보여 줍니다.",
  ],
  "window.all": ["Show all dimensions", "모든 차원 보기"],
  "window.some": ["Show fewer dimensions", "차원 줄여 보기"],
  "no.values": [
    "The values did not travel with this page, so the road ends at the weights.",
    "밸류가 이 페이지에 담기지 않아 가중치까지만 보여 줍니다.",
  ],
  "nothing.allowed": ["{token} may read nothing: all its weights are 0.", "{token:이/가} 볼 수 있는 토큰이 없어 가중치가 모두 0입니다."],

  // tokens and dimensions
  "menu.token": ["Token {name}", "토큰 {name}"],
  "menu.dimension": ["Dimension {name:e}", "차원 {name:e}"],
  "menu.open": ["{name:e}: choose, rename, add, move, remove", "{name:e}: 고르기, 이름 바꾸기, 추가, 옮기기, 지우기"],
  "menu.query": ["Choose as query", "쿼리로 고르기"],
  "menu.key": ["Choose as key", "키로 고르기"],
  "menu.rename": ["Rename", "이름 바꾸기"],
  "menu.before": ["Add before", "앞에 추가"],
  "menu.after": ["Add after", "뒤에 추가"],
  "menu.earlier.token": ["Move up", "위로 옮기기"],
  "menu.later.token": ["Move down", "아래로 옮기기"],
  "menu.earlier.dimension": ["Move left", "왼쪽으로 옮기기"],
  "menu.later.dimension": ["Move right", "오른쪽으로 옮기기"],
  "menu.remove": ["Remove", "지우기"],
  "menu.close": ["Close", "닫기"],
  "add.token": ["+ Token", "+ 토큰"],
  "add.dimension": ["+ Dimension", "+ 차원"],
  "name.token": ["The token’s text", "토큰의 글자"],
  "name.dimension": ["The dimension’s name", "차원의 이름"],
  ok: ["OK", "확인"],
  cancel: ["Cancel", "취소"],

  // keys: key, what it does
  "key.arrows": ["↑ ↓ ← → Home End", "↑ ↓ ← → Home End"],
  "does.arrows": ["move inside a table (Tab: to the next one)", "표 안에서 옮기기 (Tab: 다음 표로)"],
  "key.edit": ["0–9 or Enter", "0–9 또는 Enter"],
  "does.edit": [
    "change the number; Enter or Tab keeps it, Escape leaves it as it was",
    "숫자 바꾸기. Enter나 Tab으로 확정, Esc로 취소",
  ],
  "key.nudge": ["Alt + ↑ ↓", "Alt + ↑ ↓"],
  "does.nudge": ["change it by 0.1; with Shift by 0.01", "0.1씩 바꾸기. Shift와 함께 누르면 0.01씩"],
  "key.drag": ["Drag sideways", "좌우로 끌기"],
  "does.drag": [
    "the same with mouse or finger (tap the number first); Escape while dragging leaves it as it was",
    "마우스나 손가락으로 바꾸기(손가락은 숫자를 먼저 누른 뒤). 끄는 동안 Esc로 취소",
  ],
  "key.copy": ["Ctrl + C", "Ctrl + C"],
  "does.copy": ["copy the number with all its digits", "숫자를 모든 자릿수까지 복사"],
  "key.choose": ["Enter or click", "Enter 또는 클릭"],
  "does.choose": [
    "choose query and key; on the mask: hide or show; on a name: its menu",
    "쿼리와 키 고르기. 마스크에서는 가리기와 보이기, 이름에서는 메뉴",
  ],
  "key.walk": ["[ and ]", "[ 와 ]"],
  "does.walk": ["previous and next stage", "이전 단계, 다음 단계"],
  "key.play": ["Space", "Space"],
  "does.play": ["play and pause", "재생과 멈춤"],
  "key.undo": ["Ctrl + Z, Ctrl + Shift + Z", "Ctrl + Z, Ctrl + Shift + Z"],
  "does.undo": ["undo, redo", "되돌리기, 다시 하기"],
};

export const KEYS = ["arrows", "edit", "nudge", "drag", "copy", "choose", "walk", "play", "undo"] as const;
