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
    # See: self-attention, number by number

    One sentence, five tokens, four dimensions that a person named. Every number below is computed in this notebook, and each can be
    traced to the ones that made it. `pip install 'jumok[notebook]'` is all it needs: no GPU, no model, no network.
    """)
    return


@app.cell
def _():
    import jumok

    example = jumok.load("student")
    example.sentence
    return example, jumok


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    `attend` takes it through every stage: x → q, k, v → scores → ÷√d_k → softmax → weights × v → output. What comes back is a **Trace**,
    a small record that remembers q, k, v and the rule.
    """)
    return


@app.cell
def _(example, jumok):
    trace = jumok.attend(example)
    trace.weights[0].round(3)
    return (trace,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    A row asks, a column is read. The third row is *studies*: it puts 0.55 on *deep learning* and 0.2 on *student*. Each row sums to 1,
    because softmax shares out a whole.
    """)
    return


@app.cell
def _(jumok, trace):
    jumok.draw(trace, lang="en")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## The same, live

    Point at any number to see where it comes from. Change a number of x or W_Q, and all that follows is computed again. Choose another query.
    """)
    return


@app.cell
def _(jumok, trace):
    shown = jumok.widget(trace, lang="en")
    shown
    return (shown,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    What is chosen in the page can be read here, and set:
    """)
    return


@app.cell
def _(shown):
    shown.query, shown.key
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## In sentences

    The arithmetic of one row, told step by step. Every number in it stands in the record.
    """)
    return


@app.cell
def _(jumok, trace):
    print(jumok.explain(trace, "studies", lang="en"))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## By hand

    Nothing is hidden: the row of *studies* in four lines of NumPy.
    """)
    return


@app.cell
def _(trace):
    import numpy as np

    query = trace.q[0, 2]
    scores = trace.k[0] @ query / np.sqrt(len(query))
    shares = np.exp(scores) / np.exp(scores).sum()
    shares.round(3), np.allclose(shares, trace.weights[0, 2])
    return (np,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Another mask

    With `causal` no token reads what comes after it, as in a model that writes. *studies* now has three keys left, and shares its whole among them.
    """)
    return


@app.cell
def _(example, jumok):
    causal = jumok.attend(example, rule="causal")
    causal.rows("weights", queries=["studies"]).round(3)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## The same word in another sentence

    The same W, the same *배* with the same numbers: a pear in one sentence, a ship in the other. The output is not the same.
    """)
    return


@app.cell
def _(jumok):
    pear, ship = (jumok.attend(jumok.load(name)) for name in ("pear", "ship"))
    jumok.draw(jumok.compare(pear, ship), lang="en")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Your own numbers

    Any arrays do: NumPy, PyTorch, JAX. `jumok new my.yaml` writes a commented example file to begin from.
    """)
    return


@app.cell
def _(jumok, np):
    x = np.eye(3)
    mine = jumok.attend(x=x, w_q=2 * x, w_k=x, w_v=x, tokens=["가", "나", "다"], rule="causal")
    jumok.draw(mine, "arrows", query="다", lang="en")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Next: [design](design.ipynb), the other way round.
    """)
    return


if __name__ == "__main__":
    app.run()
