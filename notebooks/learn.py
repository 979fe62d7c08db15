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
    # Learn: where W_Q, W_K and W_V come from

    In a real Transformer nobody writes the matrices. They begin as random numbers, and training moves them a little at a time. Here you watch it
    happen on tasks so small that one can understand what comes out. `pip install 'jumok[notebook,learn]'`
    """)
    return


@app.cell
def _():
    import jumok

    learned = jumok.learn("student", steps=300)
    learned
    return jumok, learned


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The row of *studies* before the first step, on the way, and at the end. Wanted is 0.02, 0.2, 0.05, 0.55, 0.18.
    """)
    return


@app.cell
def _(learned):
    {
        step: learned.history.trace(step=step).rows("weights", queries=["studies"])[0, 0].round(2).tolist()
        for step in (0, 10, 50, 300)
    }
    return


@app.cell
def _(jumok, learned):
    jumok.draw(learned, lang="en")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Is it the W_Q that a person wrote? No: other numbers, the same row. Many W_Q and W_K make one table.
    """)
    return


@app.cell
def _(jumok, learned):
    written = jumok.attend(jumok.load("student")).heads.w_q
    written.round(1), learned.history.layers[0].weights["w_q"][-1].round(1)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The live page has a slider over the steps: `jumok.draw(learned).save("run.html")`.

    ## Your own training

    `jumok.record` stands around any PyTorch loop, which stays as it is. This model shall answer with the token that came before.
    """)
    return


@app.cell
def _():
    import torch
    from torch import nn


    class Small(nn.Module):
        def __init__(self, n_words=6, n_places=8, width=16):
            super().__init__()
            self.words, self.places = nn.Embedding(n_words, width), nn.Embedding(n_places, width)
            self.attention = nn.MultiheadAttention(width, num_heads=1, batch_first=True)
            self.answer = nn.Linear(width, n_words)

        def forward(self, ids):
            x = self.words(ids) + self.places.weight[: ids.shape[-1]]
            mixed, _ = self.attention(x, x, x)
            return self.answer(mixed)

    return Small, nn, torch


@app.cell
def _(Small, jumok, nn, torch):
    torch.manual_seed(0)
    model = Small()
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    probe = torch.tensor([[3, 1, 4, 1, 5, 0]])

    with jumok.record(model, probe, tokens=[*"dbebfa"], every=[0, 30, 60, 120]) as recorded:
        for _ in range(120):
            batch = torch.randint(6, (64, 6))
            loss = nn.functional.cross_entropy(model(batch)[:, 1:].flatten(0, 1), batch[:, :-1].flatten())
            adam.zero_grad()
            loss.backward()
            adam.step()
            recorded.log(loss)

    recorded.history
    return (recorded,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Before training each token reads all about alike. Afterwards the weight stands below the diagonal: each token reads the one before it.
    Nobody told it to; the loss did.
    """)
    return


@app.cell
def _(jumok, recorded):
    jumok.draw(recorded.history.trace(step=0), lang="en")
    return


@app.cell
def _(jumok, recorded):
    jumok.draw(recorded.history.trace(step=120), lang="en")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    More tasks: `jumok.learn("pronoun")` (what does *it* mean?), `"repeat"` (induction, learned suddenly).

    Next: [capture](capture.ipynb): models that others have trained.
    """)
    return


if __name__ == "__main__":
    app.run()
