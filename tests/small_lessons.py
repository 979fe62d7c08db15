"""A lesson small enough to be broken in one place at a time."""

import jumok
from jumok.lessons.lesson import Lesson
from jumok.lessons.written import written
from jumok.verbs import _makers

TEXT = """---
name: small
title: Small
minutes: 5
goals: [follow-a-score, write-attention]
example: student
---
## One

*studies* reads *deep learning* with {{0.55 = weight("studies", "deep learning")}}.

```show weights token=studies
```

```predict
id: most
ask: Which token?
choices: tokens
answer: argmax(weights("studies"))
after: It is {{55% = weight("studies", "deep learning")}}.
```

## Two

```question
id: dot
draw: {a: 1..5, b: -3..3}
ask: What is ({a}, 2)·(1, {b})?
answer: a*1 + 2*b
mistakes: {a*2 + b: The pairs are mixed up.}
after: "{a} + 2×{b:()} = {answer}"
hints: [Pair by pair., "Add {{1 = 1}} time."]
```

```try
id: carefully
say: Make *carefully* the strongest.
goal: argmax(weights("studies")) == "carefully"
solution: {w_q: {Action: {Method: 9}}}
hints: [The row Action.]
```

```exercise
id: softmax
kind: softmax
say: Write it.
stub: |
  import numpy as np

  def softmax(scores):
      return scores
solution: |
  import numpy as np

  def softmax(scores):
      powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
      return powers / powers.sum(axis=-1, keepdims=True)
hints: [Powers of e.]
```
"""


def small(text=TEXT, lang="en", **others):
    """The lesson of a text; of several languages where they are given by name."""
    versions = {lang: written(text, f"small.{lang}.md")}
    versions |= {name: written(one, f"small.{name}.md") for name, one in others.items()}
    return Lesson(versions, _makers(), lang)


def library(lang="en"):
    return jumok.lesson("library", lang)
