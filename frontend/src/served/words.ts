/** The texts of the served pages. */
import type { Lang } from "../engine/record";
import { say, type Words } from "../words";

const WORDS = {
  home: ["Start", "시작"],
  pages: ["jumok serve", "jumok serve"],
  // the line
  lost: [
    "The connection to the server is lost. Trying again … What you have made stays on this page and in its address.",
    "서버와 연결이 끊겼습니다. 다시 연결하고 있습니다 … 지금까지 고친 것은 이 페이지와 주소에 그대로 남아 있습니다.",
  ],
  back: ["Connected again.", "다시 연결되었습니다."],
  restarted: [
    "Connected again: the server was started anew. What was under way goes on.",
    "다시 연결되었습니다. 서버가 새로 시작되었고, 하던 일은 이어집니다.",
  ],
  refused: ["The server does not let this page in: {reason}", "서버가 이 페이지를 받아들이지 않습니다: {reason}"],
  close: ["Close", "닫기"],
  // jobs
  jobs: ["My jobs", "내 작업"],
  jobs_open: ["My jobs, {n} under way", "내 작업, {n}개 진행 중"],
  no_jobs: ["None yet. What you start on the start page is listed here.", "아직 없습니다. 시작 페이지에서 시작한 작업이 여기에 나옵니다."],
  queued: ["waits, {n} before it", "기다리는 중, 앞에 {n}개"],
  queued_next: ["waits, next in line", "기다리는 중, 다음 차례"],
  running: ["running", "진행 중"],
  done: ["done", "끝남"],
  failed: ["failed", "실패"],
  stopped: ["stopped", "멈춤"],
  stop: ["Stop", "멈추기"],
  stopping: ["Stopping …", "멈추는 중 …"],
  remove: ["Delete", "지우기"],
  stop_it: ["Stop: {title}", "멈추기: {title}"],
  remove_it: ["Delete: {title}", "지우기: {title}"],
  remove_sure: ["Really delete?", "정말 지울까요?"],
  remove_sure_it: ["Really delete? {title}", "정말 지울까요? {title}"],
  removing: ["Deleting …", "지우는 중 …"],
  keep: ["Keep", "그대로 두기"],
  keep_it: ["Keep: {title}", "그대로 두기: {title}"],
  deleted: [
    "This job is no longer on the server. What is seen here is lost when you leave this page.",
    "이 작업은 이제 서버에 없습니다. 이 페이지를 떠나면 여기 보이는 것도 사라집니다.",
  ],
  news_done: ["Done: {title}", "작업이 끝났습니다: {title}"],
  news_failed: ["Failed: {title}", "작업이 실패했습니다: {title}"],
  look: ["Look at it", "보러 가기"],
  progress: ["Progress", "진행"],
  // how far
  of: ["{done} of {of} {unit}", "{of}{unit} 중 {done}"],
  so_far: ["{done} {unit} so far", "지금까지 {done}{unit}"],
  left_s: ["about {n} s left", "약 {n}초 남음"],
  left_min: ["about {n} min left", "약 {n}분 남음"],
  unit_steps: ["steps", "단계"],
  unit_layers: ["layers", "층"],
  unit_sentences: ["sentences", "문장"],
  unit_tokens: ["tokens", "토큰"],
  unit_shards: ["parts", "조각"],
  unit_measurements: ["measurements", "측정"],
  unit_rows: ["rows", "행"],
  // start
  welcome: ["Self-attention with Python behind it", "Python이 함께 움직이는 셀프 어텐션 (self-attention)"],
  welcome_under: [
    "Change a number and Python answers; train a head and see it move. Everything stays on the computer that serves this page.",
    "숫자를 고치면 Python이 답하고, 헤드를 학습시키면 움직임이 보입니다. 모든 것은 이 페이지를 띄운 컴퓨터 안에 머뭅니다.",
  ],
  asking_server: ["Asking the server …", "서버에 묻는 중 …"],
  files: ["What was given at the start", "시작할 때 연 파일"],
  examples: ["Examples", "예제"],
  examples_under: ["Small sentences in which every number can be changed.", "모든 숫자를 고칠 수 있는 작은 문장입니다."],
  lessons: ["Lessons", "레슨"],
  lessons_under: [
    "Step by step, with questions that are judged on the page.",
    "한 걸음씩 배우고, 질문의 답은 페이지에서 바로 확인합니다.",
  ],
  lessons_code: ["Code is run and checked here.", "여기서 코드를 실행하고 확인합니다."],
  lessons_open: ["Open the lessons", "레슨 열기"],
  minutes: ["{n} minutes", "{n}분"],
  lesson_done: ["{n} done", "{n}개 마침"],
  yours: ["With the model", "모델로"],
  text: ["Type a text", "글 입력하기"],
  text_under: [
    "{name} reads it, and you see where every head looks.",
    "{name} 모델이 글을 읽고, 헤드마다 어디를 참고하는지 보여 줍니다.",
  ],
  text_label: ["Text", "글"],
  text_limit: ["At most {n} tokens.", "최대 {n}토큰입니다."],
  text_go: ["Let it read", "읽히기"],
  train: ["Train", "학습시키기"],
  train_under: ["A small model learns a task before your eyes.", "작은 모델이 과제를 배우는 모습을 지켜봅니다."],
  task: ["Task", "과제"],
  steps: ["Steps (empty: the usual)", "단계 수 (비우면 보통 값)"],
  seed: ["Seed", "시드"],
  train_go: ["Train", "학습 시작"],
  measure: ["Measure heads", "헤드 측정하기"],
  measure_under: [
    "What every head of {name} does over many sentences, with baselines.",
    "{name} 모델의 헤드가 여러 문장에서 하는 일을 기준선과 함께 측정합니다.",
  ],
  measure_text: ["Sentences, one a line", "문장, 한 줄에 하나씩"],
  measure_own: [
    "Sentences, one a line (empty: the corpus given at the start)",
    "문장, 한 줄에 하나씩 (비우면 시작할 때 준 말뭉치)",
  ],
  measure_few: [
    "At least {n} sentences: with fewer, nothing can be called evidence.",
    "문장이 {n}개는 있어야 합니다. 그보다 적으면 무엇도 근거라고 할 수 없습니다.",
  ],
  measure_go: ["Measure", "측정 시작"],
  cost: ["What it costs", "비용 재기"],
  cost_under: [
    "Time and memory of each variant as texts grow, measured on the computer that serves this page.",
    "글이 길어질 때 변형마다 드는 시간과 메모리를 이 페이지를 띄운 컴퓨터에서 잽니다.",
  ],
  cost_n: ["Tokens, from:to", "토큰 수, 처음:끝"],
  cost_d: ["Width of a head", "헤드의 너비"],
  cost_heads: ["Heads", "헤드 수"],
  cost_go: ["Measure", "재기 시작"],
  sending: ["Sending …", "보내는 중 …"],
  unsure: [
    "The connection broke off before the server answered. Look at “My jobs” before you send it again: it may have arrived.",
    "서버가 답하기 전에 연결이 끊겼습니다. 이미 도착했을 수 있으니, 다시 보내기 전에 ‘내 작업’을 확인하십시오.",
  ],
  empty: ["Type something first.", "먼저 내용을 입력하십시오."],
  no_whole: ["{name}: a whole number from {low} up is needed here.", "{name}: {low} 이상의 정수를 입력하십시오."],
  too_large: ["{name}: this number is too large.", "{name}: 너무 큰 수입니다."],
  // a job
  job_gone: ["This job is not here (any more).", "이 작업은 여기에 없습니다."],
  to_start: ["Back to the start page", "시작 페이지로"],
  result: ["The result is below.", "결과가 아래에 있습니다."],
  bringing: ["Bringing the result …", "결과를 가져오는 중 …"],
  kept: ["What was made until then is kept, and shown below.", "그때까지 만든 것은 남아 있고, 아래에 보입니다."],
  kept_nothing: ["It had not come far enough for anything to be shown.", "보여 줄 만큼 진행되지 않았습니다."],
  loss: ["Loss", "손실"],
  accuracy: ["Accuracy", "정확도"],
  curve_alt: [
    "{what} by step: {first} at step {from}, {last} at step {to}",
    "단계에 따른 {what}: {from}단계에서 {first}, {to}단계에서 {last}",
  ],
  no_steps: ["The first steps are on their way …", "첫 단계를 기다리는 중 …"],
  table: ["Attention weights at step {step}", "{step}단계의 어텐션 가중치"],
  table_under: [
    "Layer {layer}, head {head}, on one sequence: each row is a query, each column a key.",
    "시퀀스 하나에서 본 {layer}층 {head}번 헤드의 어텐션 가중치입니다. 행은 쿼리, 열은 키입니다.",
  ],
  rows: ["Measured so far", "지금까지 잰 것"],
  layer_read: ["Layer {layer} of {of} has been read.", "{of}층 가운데 {layer}층을 읽었습니다."],
  speed: ["{n} tokens a second", "초당 {n}토큰"],
  column_variant: ["Variant", "변형"],
  column_n: ["Tokens", "토큰"],
  column_time_ms: ["Time (ms)", "시간 (ms)"],
  column_memory: ["Memory", "메모리"],
  column_route: ["Way", "방식"],
} as const satisfies Words;

export type Word = keyof typeof WORDS;

export function told(name: Word, lang: Lang, data: Readonly<Record<string, string | number>> = {}): string {
  return say(WORDS, name, lang, data);
}

/** A word that may not be listed, such as the name of a unit that the server made up. */
export function toldOr(name: string, or: string, lang: Lang): string {
  return Object.hasOwn(WORDS, name) ? told(name as Word, lang) : or;
}
