import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell
def _():
    import marimo as mo

    return (mo,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # Measure: what every head does, and whether that is evidence

    "This head looks at the previous token" is easily said from one picture. Measuring holds every head against every role, over many sentences, beside the best
    rule that needs no attention, with an interval. First of all we try the instrument on a model whose heads we made ourselves.
    `pip install 'jumok[notebook,measure]'`
    """)
    return


@app.cell
def _():
    import torch
    from torch import nn

    import jumok


    class Known(nn.Module):
        """Head 0 asks for the place before, head 1 for the same word, head 2 for nothing in particular."""

        def __init__(self, n_words, width=16):
            super().__init__()
            self.words = nn.Embedding(n_words, width)
            self.register_buffer("places", torch.eye(width))
            self.register_buffer("anything", torch.randn(width, width))

        def forward(self, input_ids, attention_mask=None):
            word = self.words(input_ids)
            place = self.places[: input_ids.shape[-1]].expand_as(word)
            q = torch.stack([40 * place.roll(-1, -1), 20 * word, word @ self.anything], 1)
            k = torch.stack([place, word, word], 1)
            v = torch.stack([word] * 3, 1)
            allowed = None if attention_mask is None else attention_mask[:, None, None].bool()
            return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed).transpose(1, 2).flatten(2)

    return Known, jumok, nn, torch


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    A tokenizer for nine words, and forty sentences drawn from them:
    """)
    return


@app.cell
def _():
    import random

    from tokenizers import Tokenizer, models, pre_tokenizers

    words = "나는 너는 오늘 어제 밥을 책을 집에서 먹었다 읽었다".split()
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(["[PAD]", *words])}, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()

    draw = random.Random(0)
    sentences = [" ".join(draw.choices(words, k=draw.randint(4, 9))) for _ in range(40)]
    sentences[:3]
    return sentences, tokenizer, words


@app.cell
def _(Known, jumok, sentences, tokenizer, torch, words):
    torch.manual_seed(0)
    found = jumok.measure(Known(len(words) + 1).eval(), sentences, tokenizer, workers=1)
    jumok.draw(found, lang="en")
    return (found,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The instrument names what we built: head 0 is the previous token, head 1 the same word. Of head 2 it says nothing, and that is right: it has no role.
    The numbers of three roles, beside what needs no attention:
    """)
    return


@app.cell
def _(found):
    def told(row):
        if not row.evidence:
            return "no evidence"
        return f"score {row.score:.2f}, baseline {row.baseline:.2f} ({row.baseline_rule}), ahead by {row.low:.2f} to {row.high:.2f}"


    {(row.role, row.head): told(row) for row in found.table.rows if row.role in ("previous", "same-token", "next")}
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Each with real cases, from sentences that were drawn before anything was measured:
    """)
    return


@app.cell
def _(found):
    [
        f"{' '.join(case.tokens)}: {case.tokens[case.query[0]]} → {case.tokens[case.key[0]]} {case.weight:.3f}"
        for case in found.examples_of(0, 0, "previous")
    ]
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Only noise

    The same with a model whose numbers nobody chose. Many heads times many roles: by chance some come out ahead, so the test is corrected for their number.
    """)
    return


@app.cell
def _(Known, jumok, nn, sentences, tokenizer, torch, words):
    class Random(Known):
        def forward(self, input_ids, attention_mask=None):
            word = self.words(input_ids)
            q, k = (
                torch.stack([(word @ self.anything.roll(at + shift, 0)).tanh() for at in range(3)], 1) for shift in (0, 5)
            )
            allowed = None if attention_mask is None else attention_mask[:, None, None].bool()
            return (
                nn.functional.scaled_dot_product_attention(q, k, torch.stack([word] * 3, 1), attn_mask=allowed)
                .transpose(1, 2)
                .flatten(2)
            )


    torch.manual_seed(1)
    noise = jumok.measure(Random(len(words) + 1).eval(), sentences, tokenizer, workers=1)
    evidence = [(row.role, row.head, round(row.difference, 3)) for row in noise.table.rows if row.evidence]
    noise.table.n_tested, evidence
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Few of the tests, if any, are left. What is left may still be real: numbers drawn once are not drawn anew for every sentence, so a random head can have a weak
    habit. Evidence says that something is so; what it is good for, only a cut can tell ([capture](capture.ipynb)).

    The page with the map of heads, a table to sort and a card for each head: `jumok.draw(found).save("measure.html")`. A corpus of annotated
    words (`.conllu`) adds subject to verb and every other relation; `folder="run/"` keeps the run, goes on after a stop, and writes Parquet tables.
    """)
    return


if __name__ == "__main__":
    app.run()
