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
    # 학습: W_Q, W_K, W_V는 어디서 오는가

    실제 Transformer에서는 아무도 행렬을 적어 넣지 않습니다. 무작위 숫자에서 시작해 학습하면서 조금씩 움직입니다. 무엇이 나왔는지 이해할 수 있을 만큼 작은 과제로
    그 과정을 지켜봅니다. `pip install 'jumok[notebook,learn]'`
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
    *studies*의 행입니다. 첫걸음 전, 도중, 그리고 마지막입니다. 원하는 값은 0.02, 0.2, 0.05, 0.55, 0.18입니다.
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
    jumok.draw(learned, lang="ko")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    사람이 적은 W_Q와 같을까요? 아닙니다. 숫자는 다르고 행은 같습니다. 한 표를 만드는 W_Q와 W_K는 많습니다.
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
    살아 있는 페이지에는 걸음을 고르는 슬라이더가 있습니다: `jumok.draw(learned, lang="ko").save("run.html")`

    ## 나의 학습

    `jumok.record`는 어떤 PyTorch 반복문이든 둘러쌀 수 있고, 반복문은 그대로 둡니다. 이 모델은 바로 앞에 온 토큰을 답해야 합니다.
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
    학습 전에는 어느 토큰이나 모두를 비슷하게 참고합니다. 학습이 끝나면 가중치가 대각선 바로 아래에 섭니다. 각 토큰이 바로 앞 토큰을 참고합니다. 그렇게 하라고 시킨 사람은 없습니다.
    손실이 시켰습니다.
    """)
    return


@app.cell
def _(jumok, recorded):
    jumok.draw(recorded.history.trace(step=0), lang="ko")
    return


@app.cell
def _(jumok, recorded):
    jumok.draw(recorded.history.trace(step=120), lang="ko")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    다른 과제도 있습니다. `jumok.learn("pronoun")`은 *it*이 무엇을 가리키는지, `"repeat"`는 어느 순간 갑자기 배우는 귀납 헤드(induction head)를 보여 줍니다.

    다음: 남이 학습시킨 모델을 들여다보는 [캡처](capture.ko.ipynb)
    """)
    return


if __name__ == "__main__":
    app.run()
