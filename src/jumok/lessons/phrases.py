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
    "guessed": ("You guessed {given}; it is {answer}.", "예측은 {given}, 답은 {answer}입니다."),
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
        "A change, such as: w_q Action Method 9",
        "바꿀 것을 이렇게 씁니다: w_q Action Method 9",
    ),
    "give_file": (
        "Enter writes the beginning to {path}. Edit it, come back, press Enter",
        "Enter를 누르면 시작 코드를 {path}에 씁니다. 고친 뒤 돌아와 Enter를 누르십시오",
    ),
    "check_file": ("Enter checks {path}", "Enter를 누르면 {path} 파일을 검사합니다"),
    "kept_file": ("{path} is there already and stays as it is.", "{path} 파일이 이미 있어 그대로 둡니다."),
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
    "told_file": ("an example file", "예제 파일"),
    "no_start": (
        "This page holds the text, the pictures and the numbers. It neither checks code nor holds the live view; for all of it: {command}",
        "이 페이지에는 글, 그림, 숫자가 들어 있습니다. 코드를 검사하거나 숫자를 바꿔 보는 화면은 없습니다. 모두 해 보려면: {command}",
    ),
    "drawn_once": (
        "The numbers of the questions were drawn once for this page.",
        "문제의 숫자는 이 페이지를 만들 때 한 번 뽑은 것입니다.",
    ),
    "run_cell": (
        "Write your answer in place of ... and run the cell; ask for a hint with",
        "...를 답으로 바꾸고 셀을 실행합니다. 힌트는",
    ),
    "is_true": ("every number is true: {n} of them", "모든 숫자가 맞습니다: {n}개"),
}  # fmt: skip


def say(name: str, lang: str, /, **data: Any) -> str:
    """A phrase of the lessons' own, in a language."""
    return _WORDS[name][LANGS.index(lang)].format(**data)
