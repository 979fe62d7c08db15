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
    # 측정: 헤드마다 무엇을 하는가, 그것은 증거인가

    그림 하나를 보고 "이 헤드는 앞 토큰을 본다"고 말하기는 쉽습니다. 측정은 모든 헤드를 모든 역할에 대어 봅니다. 많은 문장에서, 어텐션이 필요 없는 가장 좋은 규칙과 나란히,
    신뢰 구간과 함께 봅니다. 먼저 우리가 직접 만든 헤드로 이 도구를 시험합니다.
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
    단어 아홉 개를 아는 토크나이저와, 그 단어들로 뽑은 문장 마흔 개입니다.
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
    jumok.draw(found, lang="ko")
    return (found,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    도구가 우리가 만든 것을 알아맞혔습니다. 0번 헤드는 앞 토큰, 1번 헤드는 같은 말입니다. 2번 헤드에 대해서는 아무 말도 하지 않는데, 그것이 옳습니다. 맡은 역할이 없기 때문입니다.
    세 가지 역할의 숫자를 기준선과 나란히 봅니다.
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
    역할마다 실제 사례가 있습니다. 측정하기 전에 미리 뽑아 둔 문장에서 고른 것입니다.
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
    ## 잡음뿐일 때

    아무도 고르지 않은 숫자로 된 모델로 같은 일을 합니다. 헤드도 역할도 많으면 우연히 앞서는 것이 나오므로, 그 수만큼 보정해서 검정합니다.
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
    남는 것이 있더라도 몇 개 되지 않습니다. 남은 것이 진짜일 수도 있습니다. 한 번 뽑은 숫자를 문장마다 다시 뽑지는 않으므로, 무작위 헤드에도 약한 버릇은 있을 수 있습니다. 증거는 그렇다는
    것을 말할 뿐이고, 그것이 무슨 소용인지는 끊어 보아야 압니다([캡처](capture.ko.ipynb)).

    헤드 지도, 정렬할 수 있는 표, 헤드마다의 카드가 있는 페이지는 `jumok.draw(found, lang="ko").save("measure.html")`로 만듭니다. 단어에 주석이 달린 말뭉치(`.conllu`)를 주면 주어에서
    동사로 가는 관계를 비롯한 모든 관계를 재고, `folder="run/"`을 주면 기록이 남아 멈췄다가 이어서 하고 Parquet 표를 씁니다.
    """)
    return


if __name__ == "__main__":
    app.run()
