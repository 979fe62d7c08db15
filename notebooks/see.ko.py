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
    # 보기: 숫자 하나하나로 보는 셀프 어텐션

    문장 하나, 토큰 다섯 개, 사람이 이름을 붙인 차원 네 개로 시작합니다. 아래의 숫자는 모두 이 노트북에서 계산한 것이고, 어디서 나왔는지 하나하나 따라갈
    수 있습니다. `pip install 'jumok[notebook]'`이면 충분합니다. GPU도 모델도 네트워크도 필요 없습니다.
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
    `attend`는 모든 단계를 차례로 계산합니다. x → q, k, v → 점수 → √d_k로 나누기 → 소프트맥스 → 가중치 × v → 출력. 돌려받는 것은 **Trace**입니다.
    q, k, v와 규칙을 기억하는 작은 기록입니다.
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
    행이 묻고 열이 읽힙니다. 셋째 행이 *studies*입니다. *deep learning*을 0.55, *student*를 0.2만큼 참고합니다. 소프트맥스는 전체를 나누어 갖게 하므로 각 행의
    합은 1입니다.
    """)
    return


@app.cell
def _(jumok, trace):
    jumok.draw(trace, lang="ko")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## 살아 있는 페이지

    아무 숫자나 가리키면 그 숫자가 어디서 나왔는지 보입니다. x나 W_Q의 숫자를 바꾸면 뒤따르는 모든 것을 다시 계산합니다. 쿼리도 바꾸어 보십시오.
    """)
    return


@app.cell
def _(jumok, trace):
    shown = jumok.widget(trace, lang="ko")
    shown
    return (shown,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    페이지에서 고른 것을 여기서 읽을 수 있고 바꿀 수도 있습니다.
    """)
    return


@app.cell
def _(shown):
    shown.query, shown.key
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## 문장으로

    한 행의 계산을 단계마다 말로 풀어 줍니다. 여기 나오는 숫자는 모두 기록에 있는 숫자입니다.
    """)
    return


@app.cell
def _(jumok, trace):
    print(jumok.explain(trace, "studies", lang="ko"))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## 직접 계산하기

    숨은 것은 없습니다. *studies*의 행을 NumPy 네 줄로 계산해 봅니다.
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
    ## 다른 마스크

    `causal`이면 어떤 토큰도 뒤에 오는 것을 볼 수 없습니다. 글을 써 나가는 모델이 이렇습니다. *studies*에게는 키가 세 개만 남고, 전체를 그 셋이 나누어 갖습니다.
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
    ## 같은 말, 다른 문장

    W도 같고 *배*의 숫자도 같습니다. 한 문장에서는 과일이고 다른 문장에서는 타는 배입니다. 출력은 달라집니다.
    """)
    return


@app.cell
def _(jumok):
    pear, ship = (jumok.attend(jumok.load(name)) for name in ("pear", "ship"))
    jumok.draw(jumok.compare(pear, ship), lang="ko")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## 나의 숫자로

    어떤 배열이든 됩니다. NumPy, PyTorch, JAX 모두 좋습니다. `jumok new my.yaml`을 실행하면 설명이 달린 예제 파일이 생깁니다.
    """)
    return


@app.cell
def _(jumok, np):
    x = np.eye(3)
    mine = jumok.attend(x=x, w_q=2 * x, w_k=x, w_v=x, tokens=["가", "나", "다"], rule="causal")
    jumok.draw(mine, "arrows", query="다", lang="ko")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    다음: 거꾸로 가는 [설계](design.ko.ipynb)
    """)
    return


if __name__ == "__main__":
    app.run()
