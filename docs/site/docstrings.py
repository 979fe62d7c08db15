"""jumok's docstrings as Sphinx reads them: what is taken stands in a list, examples stay examples.

Their shape is told in CONTRIBUTING.md: a sentence, the axes and options as ``name : text``, the smallest example, errors, paper.
"""

import inspect
import re

OPTION = re.compile(r"^([\w*]+(?:, [\w*]+)*) : (.*)$")
OPTIONS_OF_A_LINE = re.compile(r";  (?=[\w*]+(?:, [\w*]+)* : )")


def tidy(_app, _what, _name, _thing, _options, lines):
    """Give each paragraph of options the form of a definition list."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines))
    lines[:] = [*"\n\n".join(map(paragraph, paragraphs)).splitlines(), ""]


def paragraph(text):
    """One paragraph as reStructuredText."""
    rows = text.splitlines()
    if rows and rows[0].lstrip().startswith(">>>"):
        return text
    if not rows or not OPTION.match(rows[0]):
        return plain(text)
    options = []
    for row in OPTIONS_OF_A_LINE.sub("\n", text).splitlines():
        found = OPTION.match(row)
        if found:
            options.append((found[1], [found[2]]))
        else:
            options[-1][1].append(row.strip())
    return "\n".join(f"``{names}``\n    {plain(' '.join(words))}" for names, words in options)


def plain(text):
    """A text in which single stars and bars are no markup, outside of what is already code."""
    parts = re.split(r"(``.*?``)", text)
    return "".join(part if part.startswith("``") else re.sub(r"(?<!\*)([*|])(?!\*)", r"\\\1", part) for part in parts)


def short(_app, what, _name, thing, _options, signature, returned):
    """A signature as a reader needs it: PyTorch, which stands in for nothing here, hides that of its modules."""
    if what == "class" and signature == "(*args: Any, **kwargs: Any)":
        parameters = [*inspect.signature(thing.__init__).parameters.values()][1:]
        signature = str(inspect.Signature([one.replace(annotation=inspect.Parameter.empty) for one in parameters]))
    return plainer(signature), plainer(returned)


def plainer(signature):
    """Names without their modules, arrays without what is in them, and no word for what is made anew each time."""
    if signature is None:
        return None
    text = re.sub(r"~?numpy\.ndarray\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]", "ndarray", signature)
    return re.sub(r"~(?:\w+\.)+(?=\w)", "", text).replace(" = <factory>", " = …").replace("=<factory>", "=…")


def setup(app):
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", tidy)
    app.connect("autodoc-process-signature", short)
    return {"parallel_read_safe": True}
