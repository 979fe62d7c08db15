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
    # 설계: 원하는 표에서 W_Q와 W_K로

    보통은 W_Q와 W_K가 먼저 있고 가중치가 따라옵니다. 여기서는 거꾸로 갑니다. 누가 누구를 참고해야 하는지 적으면 그렇게 하는 행렬을 찾아 줍니다. 그런 행렬이 없으면
    가장 가까운 것과, 그것이 얼마나 가까운지에 대한 증명과, 더 가까워질 수 없는 까닭을 알려 줍니다. 학습은 하지 않습니다.
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
    주어는 동사를, 동사는 목적어를 0.9만큼 참고하게 하려고 합니다. 나머지 행은 어떻게 되어도 좋습니다.
    """)
    return


@app.cell
def _(example, jumok):
    found = jumok.design(example)
    found.exact, float(found.gap)
    return (found,)


@app.cell
def _(found, jumok):
    jumok.draw(found, lang="ko")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    `exact`는 원하는 행에 모두 도달했다는 뜻입니다. 차원에 이름이 있으므로 W_Q를 읽을 수 있습니다. 주어(Subject)인 것은 동사(Verb)를 찾습니다.
    """)
    return


@app.cell
def _(example, found):
    example.dimensions, found.w_q.round(2)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    찾은 것도 다른 것과 똑같은 기록입니다.
    """)
    return


@app.cell
def _(found, jumok):
    jumok.draw(found.trace(), "arrows", query="cat", lang="ko")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## 나의 바람

    토큰 세 개, 차원 두 개입니다. 행에 적지 않은 토큰은 나머지를 고르게 나누어 갖습니다.
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
    ## 할 수 없는 것

    세상의 어떤 W로도 안 될 때가 있습니다. 그 까닭을 아는 것이 공부입니다. 여기서는 두 토큰의 임베딩이 같아서 아무도 둘을 구별할 수 없습니다.
    """)
    return


@app.cell
def _(jumok):
    wanted = {"sun": {"moon": 0.8, "other moon": 0.1}}
    twins = jumok.design([[1, 0], [0, 1], [0, 1]], wanted, tokens=["sun", "moon", "other moon"])
    twins.exact, twins.reached[0][0].round(3), [reason.text("ko") for reason in twins.reasons]
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    그리고 임베딩이 0인 토큰은 W_Q가 무엇이든 아무것도 묻지 못합니다.
    """)
    return


@app.cell
def _(jumok):
    silent = jumok.design([[0, 0], [1, 0], [0, 1]], {"silence": {"moon": 0.8}}, tokens=["silence", "sun", "moon"])
    [reason.text("ko") for reason in silent.reasons]
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    살아 있는 화면에서는 "설계" 칸의 슬라이더를 움직이는 동안 같은 일을 합니다: `jumok.widget(found.trace(), lang="ko")`

    다음: 같은 행렬을 학습으로 찾는 [학습](learn.ko.ipynb)
    """)
    return


if __name__ == "__main__":
    app.run()
