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
    # Capture: what a program attends to

    Any PyTorch program that attends can be read: a model of Hugging Face or timm, `torch.nn`, a class of your own. It stays as it is. What is
    read is held against what the program itself computed, and refused where it does not agree. `pip install 'jumok[notebook,models]'`
    """)
    return


@app.cell
def _():
    import jumok
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, batch_first=True), 2, enable_nested_tensor=False).eval()
    x = torch.randn(1, 6, 16)

    with torch.no_grad(), jumok.capture() as reading:
        model(x)

    len(reading), reading[0].weights.shape
    return jumok, model, reading, torch, x


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Two layers of four heads. How they were read, and how far they are from what the model mixed, stands in the record:
    """)
    return


@app.cell
def _(reading):
    [(layer.source.details["module"], layer.source.details["way"]) for layer in reading], reading.refused
    return


@app.cell
def _(jumok, reading):
    jumok.draw(reading, lang="en")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Five lines from a tutorial

    No module, no name, only matrix products and a softmax: it is found by what it does.
    """)
    return


@app.cell
def _(jumok, torch, x):
    def attention(x, w_q, w_k, w_v):
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
        hidden = torch.ones(x.shape[-2], x.shape[-2]).triu(1).bool()
        return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


    with torch.no_grad(), jumok.capture() as five_lines:
        attention(x[0], *(torch.randn(16, 16) for _ in range(3)))

    jumok.draw(five_lines[0], lang="en")
    return (five_lines,)


@app.cell
def _(five_lines):
    five_lines[0]
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The mask was read as a rule, "causal", not as a table of zeros.

    ## What the arrow does

    A weight says where a head looks, not what comes of it. Cut it, and see how far the output moves:
    """)
    return


@app.cell
def _(model, reading, x):
    cut = reading.cut(1, 2, 3, 0, run=lambda: model(x))
    cut.text("en")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## A real model

    Two readings of all-MiniLM-L6-v2 travel in the package (q, k and v, not its weights), so this needs neither network nor model. In English:
    what does *it* attend to when the cat was *tired*, and when the mat was *soft*?
    """)
    return


@app.cell
def _(jumok):
    tired, soft = jumok.load("minilm-tired"), jumok.load("minilm-soft")
    jumok.draw(tired, lang="en")
    return soft, tired


@app.cell
def _(soft, tired):
    def row_of_it(reading):
        layer = next(one for one in reading if one.source.layer == 3)
        row = layer.rows("weights", queries=["it"], heads=[1])[0, 0]
        return {
            token.text: round(float(weight), 3) for token, weight in zip(layer.tokens, row) if token.text in ("cat", "mat")
        }


    {"tired": row_of_it(tired), "soft": row_of_it(soft)}
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    In layer 3, head 1 *it* leans to the cat, and turns to the mat. One head, two sentences: a hint, not a proof. How to make it one: [measure](measure.ipynb).

    A model of your own: `jumok.capture(model, "a text", tokenizer=tokenizer)`, or on the command line `jumok capture --model FOLDER "a text" -o page.html`.
    """)
    return


if __name__ == "__main__":
    app.run()
