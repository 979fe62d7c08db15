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
    # Design: from a wanted table to W_Q and W_K

    Usually W_Q and W_K are given and the weights follow. Here it is the other way round: write down who should attend to whom, and get
    the matrices that do it; or the best there is, a proof of how near that is, and the reasons why nothing is nearer. Nothing is trained.
    `pip install 'jumok[notebook,design]'`
    """)
    return


@app.cell
def _():
    import jumok

    example = jumok.load("next-word")
    example.sentence, example.wanted
    return example, jumok


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The subject should read its verb, the verb its object, 0.9 each. The other rows may be anything.
    """)
    return


@app.cell
def _(example, jumok):
    found = jumok.design(example)
    found.exact, float(found.gap)
    return (found,)


@app.cell
def _(found, jumok):
    jumok.draw(found, lang="en")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    `exact` says that every wanted row is reached. The dimensions have names, so W_Q can be read: what is a Subject looks for a Verb.
    """)
    return


@app.cell
def _(example, found):
    example.dimensions, found.w_q.round(2)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    What was found is a record like any other:
    """)
    return


@app.cell
def _(found, jumok):
    jumok.draw(found.trace(), "arrows", query="cat", lang="en")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Your own wish

    Three tokens, two dimensions. A token that is left out of a row shares evenly what remains.
    """)
    return


@app.cell
def _(jumok):
    x, tokens = [[1, 0], [0, 1], [1, 1]], ["sun", "moon", "star"]
    mine = jumok.design(x, {"sun": {"moon": 0.5}, "star": {"sun": 0.7}}, tokens=tokens)
    mine.exact, mine.reached[0].round(3).tolist()
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What cannot be done

    Sometimes no W in the world does it, and the reasons are the lesson. Here two tokens have the same embedding, so nobody can tell them apart:
    """)
    return


@app.cell
def _(jumok):
    wanted = {"sun": {"moon": 0.8, "other moon": 0.1}}
    twins = jumok.design([[1, 0], [0, 1], [0, 1]], wanted, tokens=["sun", "moon", "other moon"])
    twins.exact, twins.reached[0][0].round(3), [reason.text("en") for reason in twins.reasons]
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    And a token whose embedding is 0 asks nothing, whatever W_Q is:
    """)
    return


@app.cell
def _(jumok):
    silent = jumok.design([[0, 0], [1, 0], [0, 1]], {"silence": {"moon": 0.8}}, tokens=["silence", "sun", "moon"])
    [reason.text("en") for reason in silent.reasons]
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    In a live view the panel "Design" does this while you move a slider: `jumok.widget(found.trace())`.

    Next: [learn](learn.ipynb): the same matrices, found by training.
    """)
    return


if __name__ == "__main__":
    app.run()
