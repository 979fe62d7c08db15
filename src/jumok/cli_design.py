"""``jumok design``: example files with ``wanted:`` → the designed files; what they reach, and why no nearer.

Ctrl-C ends a search after the step that it is at, with the best so far; a second Ctrl-C ends the program.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from . import cli
from .cli_stop import CtrlC
from .errors import InputError, OutputError
from .files import refuse_nameless, refuse_unwritable, write_whole
from .sources.design.designed import Design, wanted_of
from .sources.design.examples import design_examples
from .sources.example import Example
from .trace import Reading, Trace, layers_of, unknown_name
from .words import number

__all__ = ["design_files"]

MANY_NUMBERS = 4000  # in W_Q: with fewer, a file is never too large for them
FORMS = {
    ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".csv": "csv", ".txt": "text", ".html": "page",
    ".safetensors": "safetensors",
}  # fmt: skip


def design_files(
    lang: str, files: Sequence[str], output: str | None, flags: Mapping[str, bool], asked: Mapping[str, Any]
) -> None:
    """Design what some example files want, and print it, or write it, or both.

    flags : json, csv: one of them at most;  asked : the other options, as texts
    """
    form = _form(files, output, flags)
    examples = [_example(name) for name in files]
    _refuse_other_dimensions(files, examples)
    options = _options(asked)
    if output is not None:
        _refuse_unwritable(Path(output), folder=len(files) > 1)
        _refuse_too_large(examples, form, options)
    at = len(examples[0].layers) - 1 if options["layer"] is None else options["layer"]
    found, made, is_stopped = _search(lang, examples, at, options)
    records = [_record(example, at, found) for example in made]
    written = _Designed(lang, list(files), found, made, records, [layers_of(one)[at] for one in records])
    if output is not None:  # first: what is printed may go to a pipe that closes
        written.write(output, form)
    if output is None or form == "yaml" or is_stopped:
        written.show("text" if output is not None else form)
    if is_stopped:
        cli._tell(cli._("stopped", lang, gap=f"{found.gap:.2g}"))
        raise click.exceptions.Exit(130)


@dataclasses.dataclass(frozen=True)
class _Designed:
    """What was found, ready to be shown and written.

    made : (sentence,) the examples with the designed W
    records : (sentence,) what they do, all layers;  traces : (sentence,) the layer that was designed
    """

    lang: str
    files: list[str]
    found: Design
    made: Sequence[Example]
    records: list[Trace | Reading]
    traces: list[Trace]

    def show(self, form: str) -> None:
        """Print it as text, JSON or CSV."""
        cli._deliver(self.lang, None, form, lambda file: self._text(file, form))

    def write(self, output: str, form: str) -> None:
        """Write it: one file, or one a sentence into a folder, all or nothing."""
        if len(self.files) > 1:
            _write_all(Path(output), _names(self.files), [example.to_yaml() for example in self.made])
        elif form == "yaml":
            self.made[0].save(output)
        elif form == "safetensors":
            self.records[0].save(output)
        elif form == "page":
            from .picture.drawing import draw

            draw(self.records[0], lang=self.lang).save(output)
        else:
            cli._deliver(self.lang, output, form, lambda file: self._text(file, form))  # which tells it too
            return
        cli._tell(cli._("saved", self.lang, path=output))
        if form != "yaml" and not self.found.exact:  # with a YAML file the whole report is printed
            off = number(self.found.largest_difference)
            cli._tell(cli._("not_reached", self.lang, off=off, files=" ".join(self.files)))

    def _text(self, file: Any, form: str) -> None:
        from .picture import designed

        if form == "json":
            cli._dump(file, self.to_json())
        elif form == "csv":
            file.write(designed.to_csv(self.traces))
        else:
            designed.designed(cli._screen(self.lang, file), self.traces, self.files)

    def to_json(self) -> dict[str, Any]:
        """The report with W_Q, W_K and the tables, every digit."""
        sentences = [
            {
                "name": name,
                "tokens": [token.text for token in trace.tokens],
                "wanted": wanted_of(sentence),
                "reached": trace.rows("weights").tolist(),
            }
            for name, trace, sentence in zip(self.files, self.traces, self.found.sentences, strict=True)
        ]
        return {
            "format": "jumok-design",
            "version": 1,
            **self.found.to_json(),
            "dimensions": self.found.dimensions,
            "w_q": self.found.w_q.tolist(),
            "w_k": self.found.w_k.tolist(),
            "sentences": sentences,
        }


# what is asked for --------------------------------------------------------------------------------


def _example(name: str) -> Example:
    from .verbs import load

    loaded = load(name)
    if isinstance(loaded, Example):
        return loaded
    raise InputError(
        en=f"{name}: design works on example files (.yaml), which say what is wanted; this is a saved record.",
        ko=f"{name}: design은 바라는 것이 적힌 예제 파일(.yaml)에 씁니다. 이것은 저장된 기록입니다.",
    )


def _refuse_other_dimensions(files: Sequence[str], examples: Sequence[Example]) -> None:
    """Sentences share the weights, and so the dimensions that these read."""
    first = examples[0]
    for name, other in zip(files, examples, strict=True):
        if (other.dimensions, other.x.shape[1]) != (first.dimensions, first.x.shape[1]):
            raise InputError(
                en=f"{name} has other dimensions ({_dimensions(other)}) than {files[0]} ({_dimensions(first)}). Files that are "
                f"designed together share W_Q and W_K, so they need the same dimensions in the same order.",
                ko=f"{name}의 차원({_dimensions(other)})이 {files[0]}의 차원({_dimensions(first)})과 다릅니다. 함께 설계하는 파일은 W_Q와 "
                f"W_K를 함께 쓰므로 같은 차원이 같은 순서로 있어야 합니다.",
            )


def _dimensions(example: Example) -> str:
    return ", ".join(example.dimensions) if example.dimensions else str(example.x.shape[1])


def _options(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``design_examples``, from texts."""
    if asked["fix_q"] is not None and asked["fix_k"] is not None:
        raise InputError(
            en="--fix-q and --fix-k together leave nothing to design. Fix one of them, or neither.",
            ko="--fix-q와 --fix-k를 함께 쓰면 설계할 것이 남지 않습니다. 하나만 고정하거나 둘 다 빼십시오.",
        )
    if asked["near"] == "given" and asked["resume"]:
        raise InputError(
            en="--near given and --resume do not go together: the file holds what was found so far, not where it began. "
            "Leave one out.",
            ko="--near given과 --resume은 함께 쓸 수 없습니다. 파일에는 시작한 곳이 아니라 지금까지 찾은 것이 있습니다. 하나를 빼십시오.",
        )
    options: dict[str, Any] = {
        "d_k": cli._place("--d-k", asked["d_k"]),
        "w_q": _one_of("--fix-q", asked["fix_q"], cli.SIDES),
        "w_k": _one_of("--fix-k", asked["fix_k"], cli.SIDES),
        "near": _one_of("--near", asked["near"], cli.NEARS),
        "layer": cli._place("--layer", asked["layer"]),
        "resume": asked["resume"],
    }
    if asked["ridge"] is not None:
        options["ridge"] = _number_or_text(asked["ridge"])
    return options


def _one_of(option: str, text: str | None, choices: Sequence[str]) -> str | None:
    if text is None or text in choices:
        return text
    raise unknown_name(f"value of {option}", f"{option} 값", text, choices)


def _number_or_text(text: str) -> float | str:
    """A number, or, where it is none, the text, which the design refuses by its own rule."""
    try:
        return float(text)
    except ValueError:
        return text


def _form(files: Sequence[str], output: str | None, flags: Mapping[str, bool]) -> str:
    """How to write: by the one flag, else by the file's suffix; several files are written as examples into a folder."""
    if output is not None:
        refuse_nameless(output)
    if output is None or len(files) == 1:
        return cli._form(output, dict(flags), FORMS)
    suffix = Path(output).suffix.lower()
    if suffix in FORMS or any(flags.values()):
        raise InputError(
            en=f"several files are designed into a folder, as example files; got {output!r}. Try -o designed",
            ko=f"여러 파일을 설계하면 폴더에 예제 파일로 저장합니다. {output!r}이(가) 왔습니다. 예: -o designed",
        )
    _names(files)
    return "yaml"


# the search ---------------------------------------------------------------------------------------


def _search(
    lang: str, examples: Sequence[Example], at: int, options: Mapping[str, Any]
) -> tuple[Design, Sequence[Example], bool]:
    """The design, the examples with it, and whether Ctrl-C ended the search."""
    from .picture.progress import SearchBar

    n_heads = examples[0].layers[at].n_heads if at < len(examples[0].layers) else 1
    with CtrlC(lang) as stop, SearchBar(sys.stderr, lang, n_heads) as bar:

        def progress(head: int, step: int, loss: float, gap: float) -> None:
            bar.show(head, step, loss, gap)
            if stop.asked:
                raise KeyboardInterrupt

        found, made = design_examples(examples, progress=progress, **options)
        return found, made, stop.asked and not found.finished


# what is written ----------------------------------------------------------------------------------


def _record(example: Example, at: int, found: Design) -> Trace | Reading:
    """What a designed example does; the source of the layer that was designed tells what was wanted and found."""
    from .sources.example import attended

    record = attended(example)
    told = {"design": found.to_json()}  # what is wanted stands in the example, as it was written
    layers = []
    for place, layer in enumerate(layers_of(record)):
        wanted = {} if place == at else {"wanted"}
        details = {name: value for name, value in layer.source.details.items() if name not in wanted}
        details |= told if place == at else {}
        layers.append(dataclasses.replace(layer, source=dataclasses.replace(layer.source, details=details)))
    return layers[0] if isinstance(record, Trace) else Reading(tuple(layers), record.source)


def _names(files: Sequence[str]) -> list[str]:
    """What each designed file is called in the folder. Errors: ``InputError`` where two would be called the same."""
    names = [Path(name).name if Path(name).suffix else f"{name}.yaml" for name in files]
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InputError(
            en=f"two of the files are called {twice}, and would be written to one place. Rename one.",
            ko=f"이름이 {twice}인 파일이 둘이라 같은 곳에 쓰게 됩니다. 하나의 이름을 바꾸십시오.",
        )
    return names


def _refuse_unwritable(path: Path, folder: bool) -> None:
    """Before a search that may be long: what could not be written at its end."""
    if folder and path.exists() and not path.is_dir():
        raise OutputError(
            en=f"cannot write {path}: several files need a folder, and it is a file. Try another name.",
            ko=f"{path}에 쓸 수 없습니다: 여러 파일에는 폴더가 필요한데 이것은 파일입니다. 다른 이름을 쓰십시오.",
        )
    refuse_unwritable(path / "designed.yaml" if folder and path.is_dir() else path)


def _refuse_too_large(examples: Sequence[Example], form: str, options: Mapping[str, Any]) -> None:
    """Before the search: what no file would hold, tried with a free side whose numbers have their full length."""
    side = "w_q" if options["w_q"] is None else "w_k"
    for example in examples if form == "yaml" else ():
        layers = list(example.layers)
        at = len(layers) - 1 if options["layer"] is None else options["layer"]
        if at >= len(layers) or getattr(layers[at], side).size < MANY_NUMBERS:
            continue
        full = np.random.default_rng(0).standard_normal(getattr(layers[at], side).shape)
        layers[at] = dataclasses.replace(layers[at], **{side: full})
        try:
            example.replace(layers=tuple(layers)).to_yaml()
        except InputError as error:
            raise InputError(
                en=f"{error.en} Write the result as .safetensors or .json instead: -o designed.safetensors",
                ko=f"{error.ko} 결과를 .safetensors나 .json으로 저장하십시오: -o designed.safetensors",
            ) from error


def _write_all(folder: Path, names: Sequence[str], texts: Sequence[str]) -> None:
    """Each text into its file in a folder, which is made where it is not there; all or none."""
    is_new = not folder.exists()
    folder.mkdir(exist_ok=True)

    def write(at: int) -> Callable[[str], None]:
        def into(name: str) -> None:
            Path(name).write_bytes(texts[at].encode("utf-8"))
            if at + 1 < len(names):  # nothing takes its place until all are written
                write_whole(folder / names[at + 1], write(at + 1))

        return into

    try:
        write_whole(folder / names[0], write(0))
    except BaseException:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
        raise
