"""The table of docs/lessons*.md that says what covers which goal; ``python tests/goals_table.py`` writes it there."""

from pathlib import Path

import jumok
from jumok.lessons import packaged
from jumok.lessons.goals import GOALS, covering
from jumok.words import LANGS

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {"en": DOCS / "lessons.md", "ko": DOCS / "lessons.ko.md"}
HEADER = "| --- | --- | --- | --- |\n"
JUDGED = {
    "question": ("an answer for numbers drawn anew", "새로 뽑은 숫자로 낸 답"),
    "try": ("a change that reaches its goal", "과제의 목표를 이룬 변경"),
}
KINDS = {"question": ("question", "문제"), "try": ("try", "바꿔 보기"), "exercise": ("exercise", "코드")}


def judged(block, lang):
    """How it is told that a block was done right."""
    if block.kind == "exercise":
        return f"`jumok check --kind {block.checks}`"
    return JUDGED[block.kind][LANGS.index(lang)]


def rows(lang):
    """Goal, lesson, what counts there, how it is judged."""
    for goal, words in GOALS.items():
        for number in packaged.names():
            lesson = jumok.lesson(number, lang)
            blocks = [lesson.block(id) for id in covering(lesson)[goal]]
            if blocks:
                told = ", ".join(f"{block.id} ({KINDS[block.kind][LANGS.index(lang)]})" for block in blocks)
                how = "; ".join(dict.fromkeys(judged(block, lang) for block in blocks))
                yield f"| {words[LANGS.index(lang)]} | {number} {lesson.name} | {told} | {how} |"


def written(lang):
    """The rows that stand in the page."""
    return PAGES[lang].read_text(encoding="utf-8").partition(HEADER)[2].partition("\n\n")[0].split("\n")


if __name__ == "__main__":
    for lang, page in PAGES.items():
        before, header, rest = page.read_text(encoding="utf-8").partition(HEADER)
        table, after = "\n".join(rows(lang)), rest.partition("\n\n")[2]
        page.write_text(f"{before}{header}{table}\n\n{after}", encoding="utf-8")
