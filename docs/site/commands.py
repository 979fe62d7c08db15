"""The command line as the program itself tells it: usage, arguments, options and defaults, from jumok's own parsers.

``{command} attend`` is one command, with an example in its body; ``{command} jumok`` is what all of them share; ``{commands}`` is
the list of all. A command that a page of commands leaves out, or that is not there, is a warning, and so ends the build.
"""

import re

import click
from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from jumok.cli import HEADINGS, _commands, _Output

LOG = logging.getLogger(__name__)
PAGE = "commands"
WORDS = {
    "Arguments": "인자",
    "Options": "옵션",
    "Example": "예",
    "And": "그리고",
    ", as everywhere.": ". 어느 명령에서나 같습니다.",
}
OPTION = re.compile(
    r"(?<![\w-])(--?[a-z][a-z-]*)(?![A-Za-z0-9_])"
)  # in words; a Korean particle may stand right behind
SHARED = {"--lang", "--help"}  # the options of every command, told once
EXAMPLE = (
    "A packaged example (`jumok examples`), an example file, or a saved .safetensors.",
    "들어 있는 예제(`jumok examples`), 예제 파일, 또는 저장된 .safetensors.",
)
TEXT_OR_EXAMPLE = (
    "A packaged example, an example file, or a saved .safetensors; with `--model` a text.",
    "들어 있는 예제, 예제 파일, 또는 저장된 .safetensors. `--model`을 주면 글 자체.",
)
ARGUMENTS = {  # parsers have no words for them
    ("attend", "name"): EXAMPLE,
    ("explain", "name"): EXAMPLE,
    ("explain", "tokens"): (
        "The tokens to explain: texts (`the#2` for the second) or positions from 0. Without any, the one that is most worth it.",
        "설명할 토큰: 글자(두 번째는 `the#2`) 또는 0부터 센 위치. 없으면 가장 볼 만한 토큰 하나.",
    ),
    ("draw", "name"): (
        "A packaged example, an example file, or a saved .safetensors: a record, a reading, a training run.",
        "들어 있는 예제, 예제 파일, 또는 저장된 .safetensors(기록, 모델에서 읽은 것, 학습).",
    ),
    ("compare", "first"): TEXT_OR_EXAMPLE,
    ("compare", "second"): TEXT_OR_EXAMPLE,
    ("design", "files"): (
        "Packaged examples or example files with `wanted:`. Several share one W.",
        "`wanted:`가 있는 들어 있는 예제나 예제 파일. 여럿이면 W를 함께 씁니다.",
    ),
    ("capture", "text"): ("The text itself, in quotation marks.", "글 자체. 따옴표로 묶습니다."),
    ("learn", "task"): (
        "A task's name, a file of input<TAB>target lines, or an example file. Without it: the tasks.",
        "과제 이름, 입력<탭>답을 한 줄씩 쓴 파일, 또는 예제 파일. 없으면 과제 목록.",
    ),
    ("lesson", "which"): (
        "A number, a name, or a lesson of your own (.md). Without it: the lessons, and what you did.",
        "번호, 이름, 또는 직접 쓴 레슨(.md). 없으면 레슨 목록과 한 일.",
    ),
    ("check", "file"): (
        "`my.py`, or `my.py:name` for one function or class in it.",
        "`my.py`, 또는 그 안의 함수나 클래스 하나를 고르려면 `my.py:이름`.",
    ),
    ("new", "path"): ("The file to write.", "쓸 파일."),
    ("examples", "name"): ("The example to print as a file. Without it: the list.", "파일로 출력할 예제. 없으면 목록."),
    ("measure", "corpus"): (
        "A text file with a sentence on each line, a .conllu file, or the folder of a finished run. Not with `--repeated`.",
        "한 줄에 한 문장을 쓴 글 파일, .conllu 파일, 또는 끝난 실행 결과 폴더. `--repeated`와는 함께 쓰지 않습니다.",
    ),
    ("roles", "name"): ("The role to tell. Without it: the list.", "뜻을 볼 역할. 없으면 목록."),
    ("serve", "files"): (
        "What it shows besides the packaged examples: example files, saved .safetensors, folders of `jumok measure`.",
        "들어 있는 예제 말고 더 보여 줄 것: 예제 파일, 저장된 .safetensors, `jumok measure`의 폴더.",
    ),
    ("completion", "shell"): ("`bash`, `zsh` or `fish`.", "`bash`, `zsh`, `fish` 가운데 하나."),
}


class Command(SphinxDirective):
    """One command: how it is called, what it does, the example in the body, its arguments and options."""

    required_arguments = 1
    has_content = True

    def run(self):
        """Its nodes."""
        lang, name = self.config.language, self.arguments[0]
        group, root = program(lang)
        self.env.jumok_commands.add(name)
        if name == "jumok":
            command, context = group, root
        elif name in group.commands:
            command = group.commands[name]
            context = click.Context(command, info_name=name, parent=root)
        else:
            raise self.error(f"jumok has no command {name!r}")
        self.assert_has_content()
        told = [usage(context), paragraph(command.help), literal(self.content, "sh")]
        options = [one for one in command.get_params(context) if isinstance(one, click.Option) and not one.hidden]
        if name != "jumok":
            own = [one for one in options if not SHARED & {*one.opts}]
            told += entries(lang, "Arguments", [argument(lang, name, one, context) for one in positional(command)])
            told += entries(lang, "Options", [option(lang, name, one, context) for one in own])
            told.append(shared(lang, [one for one in options if SHARED & {*one.opts}]))
        else:
            told += entries(lang, "Options", [option(lang, name, one, context) for one in options])
        return told


class Commands(SphinxDirective):
    """All commands, each with what it does."""

    def run(self):
        """One list."""
        group, _root = program(self.config.language)
        self.env.jumok_list = True
        rows = [(link(f"jumok {name}", f"#jumok-{name}"), paragraph(one.help)) for name, one in group.commands.items()]
        return [definitions(rows, "commands")]


def program(lang):
    """jumok's commands in a language, and the context they are called in."""
    group = _commands(lang)
    return group, click.Context(group, info_name="jumok", **group.context_settings)


def positional(command):
    """What stands behind a command without a name."""
    return [one for one in command.params if isinstance(one, click.Argument)]


def usage(context):
    """``jumok attend [OPTIONS] NAME``."""
    return literal([" ".join([context.command_path, *context.command.collect_usage_pieces(context)])], "text")


def argument(lang, command, one, context):
    """An argument as it stands in the usage line, and what it is."""
    words = ARGUMENTS.get((command, one.name))
    if words is None:
        LOG.warning("docs/site/commands.py has no words for the argument %s of jumok %s", one.name, command)
        words = ("", "")
    return term(one.make_metavar(context), f"{command}-{one.name}"), paragraph(words[lang == "ko"])


def option(lang, command, one, context):
    """An option as the program's own help writes it, with its default."""
    name, words = one.get_help_record(context)
    default = one.get_default(context)
    if isinstance(default, str) and "[default:" not in words:
        words += f"  [default: {default}]"
    if lang == "ko":
        words = words.replace("[default:", HEADINGS["[default:"])
    if one.multiple and not isinstance(one, _Output):
        name += " …"
    return term(name, f"{command}-{max(one.opts, key=len).strip('-')}"), paragraph(words)


def shared(lang, options):
    """A line about the options that every command has."""
    names = [nodes.literal(text=name) for one in options for name in one.opts]
    line = nodes.paragraph("", "", nodes.Text(word(lang, "And") + " "))
    for at, name in enumerate(names):
        line += [nodes.Text(", "), name] if at else [name]
    line += nodes.Text(word(lang, ", as everywhere."))
    return line


def word(lang, english):
    """A word of the page, in its language."""
    return WORDS[english] if lang == "ko" else english


def entries(lang, title, rows):
    """A titled list; nothing where there is nothing."""
    if not rows:
        return []
    return [nodes.rubric("", word(lang, title)), definitions(rows, "options")]


def definitions(rows, kind):
    """Terms with what they mean."""
    items = [nodes.definition_list_item("", name, nodes.definition("", meaning)) for name, meaning in rows]
    return nodes.definition_list("", *items, classes=["jumok-list", kind])


def term(text, place):
    """A name as it is typed, which can be linked to."""
    return nodes.term("", "", nodes.literal(text=text), ids=[place.replace("_", "-")])


def link(text, place):
    """A name that leads to its place."""
    return nodes.term("", "", nodes.reference("", "", nodes.literal(text=text), refuri=place, internal=True))


def literal(lines, kind):
    """Lines as they are typed."""
    text = "\n".join(lines)
    return nodes.literal_block(text, text, language=kind)


def paragraph(text):
    """A line of words; options, and what stands between backticks, are code."""
    line = nodes.paragraph()
    for at, part in enumerate(text.split("`")):
        for inner, piece in enumerate([part] if at % 2 else OPTION.split(part)):
            if piece:
                line += nodes.literal(text=piece) if at % 2 or inner % 2 else nodes.Text(piece)
    return line


def begin(app):
    """Nothing was told yet."""
    app.env.jumok_commands = set()
    app.env.jumok_list = False


def nothing_left_out(_app, env):
    """A command that no page tells ends the build."""
    group, _root = program(env.config.language)
    for name in ("jumok", *group.commands):
        if name not in env.jumok_commands:
            LOG.warning("docs/%s tells nothing of jumok %s", PAGE, name)


def setup(app):
    """Sphinx calls this."""
    app.add_directive("command", Command)
    app.add_directive("commands", Commands)
    app.connect("builder-inited", begin)
    app.connect("env-check-consistency", nothing_left_out)
    return {"parallel_read_safe": False}
