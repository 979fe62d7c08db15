"""What a lesson says besides its own text."""

from __future__ import annotations

from typing import Any

from ..words import LANGS

__all__ = ["say"]

_WORDS = {
    "lesson": ("Lesson {number}", "레슨 {number}"),
    "minutes": ("{n} minutes", "{n}분"),
    "predict": ("Guess first", "먼저 예측하기"),
    "question": ("Question", "문제"),
    "try": ("Try it", "바꿔 보기"),
    "exercise": ("Exercise", "연습 문제"),
    "hint": ("Hint {n}", "힌트 {n}"),
    "answer": ("Answer", "답"),
    "solution": ("Solution", "풀이"),
    "stub": ("Begin with", "시작 코드"),
    "right": ("Right.", "맞습니다."),
    "wrong": ("Not yet.", "아직 아닙니다."),
    "guessed": ("Your guess: {given}. The answer: {answer}.", "예측: {given}. 답: {answer}."),
    "guessed_right": ("Your guess was right: {answer}.", "예측이 맞았습니다: {answer}."),
    "answer_is": ("The answer is {answer}.", "답은 {answer}입니다."),
    "one_way": ("One way: {change}", "한 가지 방법: {change}"),
    "live": (
        "Open the live page and change it there: {command}",
        "조작할 수 있는 페이지를 열어 거기에서 바꿔 봅니다: {command}",
    ),
    "keys": (
        "Enter goes on · ? a hint · s skips · q leaves (you come back to this place)",
        "Enter 다음 · ? 힌트 · s 건너뛰기 · q 나가기 (다음에 이 자리에서 이어집니다)",
    ),
    "choose": ("A number from 1 to {n}", "1부터 {n}까지의 번호"),
    "give_number": ("Your answer", "답"),
    "give_change": (
        "A change is written like this: {form}. Commas join several; each line begins with the example as it was.",
        "바꿀 것은 이렇게 씁니다: {form}. 여럿이면 쉼표로 잇습니다. 줄마다 처음의 예제에서 다시 시작합니다.",
    ),
    "your_change": ("Your change", "바꿀 것"),
    "form.x": ("x TOKEN COLUMN NUMBER", "x 토큰 열 수"),
    "form.w": ("w_q ROW COLUMN NUMBER", "w_q 행 열 수"),
    "form.number": ("scale NUMBER", "scale 수"),
    "form.mask": ("mask NAME, or mask window NUMBER", "mask 이름, 또는 mask window 수"),
    "form.layer": ("layer 1, w_q ROW COLUMN NUMBER", "layer 1, w_q 행 열 수"),
    "page.cell": ("{table}, row {row}, column {column}: {number}", "{table}의 {row} 행, {column} 열: {number}"),
    "page.layer": ("layer {number}", "{number}층"),
    "page.mask": ("mask M: {number}", "마스크 M: {number}"),
    "page.scale": ("scale: {number}", "스케일: {number}"),
    "page.temperature": ("temperature: {number}", "온도: {number}"),
    "forgotten": (
        "What was done is forgotten. To take it back: jumok lesson --bring {path}",
        "한 일을 지웠습니다. 되돌리려면: jumok lesson --bring {path}",
    ),
    "give_file": (
        "Enter writes {path}; edit it and come back",
        "Enter를 누르면 {path}에 시작 코드를 씁니다",
    ),
    "check_file": ("Enter checks {path}", "Enter를 누르면 {path} 파일을 검사합니다"),
    "wrote_file": ("{path} is written now, in {folder}", "{path} 파일을 여기에 썼습니다: {folder}"),
    "no_hints": ("There are no more hints; s shows the answer.", "힌트가 더 없습니다. s를 누르면 답이 나옵니다."),
    "go_on": ("Enter", "Enter"),
    "left": ("Left here; next time it goes on from this place: {command}", "여기까지입니다. 다음에 이 자리에서 이어집니다: {command}"),
    "resumed": ("You were here before: going on where you left.", "지난번에 멈춘 곳에서 이어집니다."),
    "end": ("End of the lesson.", "레슨이 끝났습니다."),
    "checklist": ("What you can do (ticked by what you did)", "할 수 있게 된 것 (한 일로 표시됩니다)"),
    "of": ("{n} of {all}", "{all}개 중 {n}개"),
    "next": ("Next: {command}", "다음: {command}"),
    "name": ("name", "이름"),
    "title": ("title", "제목"),
    "time": ("time", "시간"),
    "done": ("done", "한 일"),
    "changed_row": ("After the change:", "바꾼 뒤:"),
    "query": ("query", "쿼리"),
    "reads_most": ("reads most, with weight", "가장 많이 참고하는 토큰과 가중치"),
    "run_cell": (
        "Write your answer in place of ... and run the cell; ask for a hint with",
        "...를 답으로 바꾸고 셀을 실행합니다. 힌트는",
    ),
    "is_true": ("every number is true: {n} of them", "모든 숫자가 맞습니다: {n}개"),
}  # fmt: skip


def say(name: str, lang: str, /, **data: Any) -> str:
    """A phrase of the lessons' own, in a language."""
    return _WORDS[name][LANGS.index(lang)].format(**data)
