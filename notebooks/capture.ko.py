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
    # 캡처: 프로그램은 무엇을 참고하는가

    어텐션을 하는 PyTorch 프로그램이면 무엇이든 읽을 수 있습니다. Hugging Face나 timm의 모델, `torch.nn`, 직접 만든 클래스도 됩니다. 프로그램은 고치지 않습니다. 읽은 것은 프로그램이
    스스로 계산한 값과 맞추어 보고, 맞지 않으면 받아들이지 않습니다. `pip install 'jumok[notebook,models]'`
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
    헤드가 네 개씩인 층 두 개입니다. 어떻게 읽었는지, 모델이 섞은 값과 얼마나 다른지가 기록에 남아 있습니다.
    """)
    return


@app.cell
def _(reading):
    [(layer.source.details["module"], layer.source.details["way"]) for layer in reading], reading.refused
    return


@app.cell
def _(jumok, reading):
    jumok.draw(reading, lang="ko")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## 튜토리얼의 다섯 줄

    모듈도 이름도 없이 행렬 곱과 소프트맥스뿐이어도, 하는 일을 보고 찾아냅니다.
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

    jumok.draw(five_lines[0], lang="ko")
    return (five_lines,)


@app.cell
def _(five_lines):
    five_lines[0]
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    마스크를 0으로 찬 표가 아니라 "causal"이라는 규칙으로 읽었습니다.

    ## 화살표가 하는 일

    가중치는 헤드가 어디를 보는지 말할 뿐, 그래서 무엇이 달라지는지는 말하지 않습니다. 끊어 보고 출력이 얼마나 움직이는지 봅니다.
    """)
    return


@app.cell
def _(model, reading, x):
    cut = reading.cut(1, 2, 3, 0, run=lambda: model(x))
    cut.text("ko")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## 실제 모델

    all-MiniLM-L6-v2가 두 문장을 읽은 기록이 패키지에 들어 있습니다(q, k, v만 있고 모델의 가중치는 없습니다). 그래서 네트워크도 모델도 필요 없습니다. 영어 문장에서 *tired*일 때와
    *soft*일 때 *it*은 무엇을 참고할까요?
    """)
    return


@app.cell
def _(jumok):
    tired, soft = jumok.load("minilm-tired"), jumok.load("minilm-soft")
    jumok.draw(tired, lang="ko")
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
    3층 1번 헤드에서 *it*은 고양이 쪽으로 기울었다가 매트 쪽으로 돌아섭니다. 헤드 하나, 문장 두 개는 실마리이지 증거가 아닙니다. 증거로 만드는 법은 [측정](measure.ko.ipynb)에 있습니다.

    나의 모델은 `jumok.capture(model, "글", tokenizer=tokenizer)`로 읽습니다. 명령줄에서는 `jumok capture --model 폴더 "글" -o page.html`입니다.
    """)
    return


if __name__ == "__main__":
    app.run()
