"""What the reference offers at a glance: each name of a page with the first sentence of its docstring; in Korean, one of its own.

``{names} reference/attend`` stands in the index for all names of that page. A name that has no Korean sentence here, and a
sentence whose name is gone, is a warning, and so ends the build.
"""

import re

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

LOG = logging.getLogger(__name__)
KINDS = ("class", "exception", "function", "module")
CALLED = {"jumok.path.allowed": "jumok.allowed", "jumok.path.positions": "jumok.positions"}  # as one writes it
KOREAN = {
    "jumok.load": "이름이나 파일에 든 것: 들어 있는 예제, 예제 파일, 저장된 기록이나 학습.",
    "jumok.Example": "예제 하나: 문장, 이름 붙은 차원으로 적은 토큰, 층의 가중치.",
    "jumok.attend": "예제, 임베딩과 가중치, 또는 q, k, v의 어텐션.",
    "jumok.Rule": "점수가 가중치가 되는 규칙: 스케일, 마스크, 위치 편향, 소프트캡, 싱크.",
    "jumok.Rotary": "위치에 따라 q와 k를 돌려, q · k가 둘 사이의 거리로 정해지게 합니다.",
    "jumok.path.allowed": "누가 누구를 볼 수 있는지: 표로 저장하지 않고, 물을 때 답하는 규칙.",
    "jumok.path.allowed.Allowed": "누가 누구를 볼 수 있는지 정하는 규칙 하나. &와 |로 잇습니다.",
    "jumok.path.allowed.causal": "자기 자신과 앞의 토큰만 봅니다.",
    "jumok.path.allowed.document": "같은 문서의 토큰만 봅니다.",
    "jumok.path.allowed.everything": "모든 토큰이 모든 토큰을 봅니다.",
    "jumok.path.allowed.padding": "누가 보든 패딩이 아닌 토큰만 봅니다.",
    "jumok.path.allowed.table": "표에 적힌 그대로.",
    "jumok.path.allowed.window": "자기 자신과 앞의 토큰 n_back개, 뒤의 토큰 n_ahead개를 봅니다.",
    "jumok.path.positions": "토큰의 위치를 알리는 방법: x에 더하는 코드, q와 k의 회전, 점수에 더하는 편향.",
    "jumok.path.positions.alibi": "멀수록 점수를 깎습니다: −기울기 · |거리|, 헤드마다 기울기 하나.",
    "jumok.path.positions.alibi_slopes": "논문에 나온 ALiBi의 기울기.",
    "jumok.path.positions.relative": "키와 쿼리의 위치 차이마다 숫자 하나.",
    "jumok.path.positions.sinusoidal": "임베딩에 더하는 코드: 짝수 차원은 사인, 홀수 차원은 코사인.",
    "jumok.path.positions.t5": "거리의 구간마다 숫자 하나: 가까우면 하나씩, 멀수록 넓게 묶습니다.",
    "jumok.path.positions.table": "표에 적힌 숫자 그대로.",
    "jumok.draw": "어텐션의 그림: 노트북에 바로 보이고, .svg .png .md .csv나 조작할 수 있는 .html로 저장합니다.",
    "jumok.Picture": "그림 하나: 노트북에 스스로 보이고, 스스로 저장합니다.",
    "jumok.widget": "노트북 안의 조작할 수 있는 페이지. 고른 것을 Python에서 읽고 바꿉니다.",
    "jumok.explain": "토큰 하나에 일어난 일을 임베딩에서 출력까지 모든 숫자와 함께.",
    "jumok.Explanation": "토큰 하나에 일어난 일: 언어와 무관한 사실과, 그것으로 만든 문장.",
    "jumok.compare": "같은 헤드가 읽은 두 글: 어느 헤드와 토큰이 반올림 오차보다 얼마나 더 달라졌는지.",
    "jumok.Comparison": "두 기록을 토큰과 헤드마다 견준 것. n × n 표는 두지 않습니다.",
    "jumok.design": "바라는 표에 가장 가까운 어텐션의 W_Q와 W_K, 얼마나 가까운지의 증명, 더 가까울 수 없는 까닭.",
    "jumok.design_values": "바라는 출력에 가장 가까운 W_V(와 W_O).",
    "jumok.Design": "바라는 표를 위해 만든 가중치와, 그것이 이룬 것, 더 못 이룬 까닭.",
    "jumok.learn": "과제로 작은 모델을 학습시키며 W_Q, W_K, W_V와 어텐션이 생겨나는 과정을 남깁니다.",
    "jumok.Learned": "학습한 작은 모델과 그 과정.",
    "jumok.History": "학습 한 번의 기록: 모든 단계의 곡선과, 몇몇 단계의 어텐션.",
    "jumok.explain_step": "학습의 한 단계가 어텐션의 다섯 단계에 바라는 것과, 움직인 가중치.",
    "jumok.record": "어떤 PyTorch 학습이든 with로 감싸, 어텐션이 변하는 과정을 남깁니다.",
    "jumok.nn": "규칙을 받고 가중치를 보여 주는 PyTorch 모듈. 학습할 수 있고 기록(Trace)을 내놓습니다.",
    "jumok.nn.MultiHeadAttention": "d_model을 나누어 가진 여러 헤드를 W_O로 합칩니다.",
    "jumok.nn.SelfAttention": "셀프 어텐션 헤드 하나: 학습할 수 있는 W_Q, W_K, W_V와 softmax(Q Kᵀ / √d_k) V.",
    "jumok.capture": "모델이 글에서 무엇을 참고하는지 모든 층과 헤드를. 인자가 없으면 어떤 코드든 지켜보는 with.",
    "jumok.measure": "말뭉치에서 모델의 모든 헤드가 하는 일: 역할마다 점수, 가장 나은 단순 규칙의 점수, 증거인지 아닌지.",
    "jumok.Measured": "말뭉치에서 헤드마다 측정한 것.",
    "jumok.scaling": "d가 커질 때 q · k가 얼마나 퍼지고, √d로 나눌 때와 안 나눌 때 softmax에 무엇이 남는지.",
    "jumok.Scaling": "여러 d에서 √d로 나누기가 하는 일을 측정한 것.",
    "jumok.cost": "변형마다 드는 비용: 곱셈·지수·바이트는 수식으로, 시간과 메모리는 재어서.",
    "jumok.Cost": "변형마다 드는 비용.",
    "jumok.variants": "q, k, v에서 출력으로 가는 다른 방법: 같은 결과를 더 싸게, 또는 거의 같은 결과를 훨씬 싸게.",
    "jumok.variants.error": "기록에 있는 q, k, v와 규칙에서 변형이 잃는 것.",
    "jumok.variants.flash": "full과 똑같은 결과를, n² 대신 n으로 자라는 메모리로.",
    "jumok.variants.flash_steps": "플래시 어텐션이 헤드 하나의 한 행을 타일마다 구해 가는 과정.",
    "jumok.variants.full": "가중치의 표 전체를 거쳐 softmax(q kᵀ · 스케일) v를 구합니다.",
    "jumok.variants.linear": "밸류마다 φ(q) · φ(k)로 가중치를 줍니다. softmax와 다른 함수이고, 시간이 n으로 자랍니다.",
    "jumok.variants.linear_steps": "선형 어텐션의 메모리가 쿼리마다 지니고 있는 것과, 쿼리가 거기서 읽는 것.",
    "jumok.variants.lowrank": "이웃한 쿼리와 키의 평균(랜드마크)을 거쳐 softmax 행렬을 낮은 랭크로 근사합니다.",
    "jumok.variants.route": "무엇이 변형을 계산하게 될지와 그 까닭. 계산은 하지 않습니다.",
    "jumok.variants.sparse": "규칙과 패턴 아래 full과 똑같은 결과를, 볼 수 있는 것만 계산해서.",
    "jumok.variants.window": "윈도우가 있는 규칙 아래 full과 똑같은 결과를, n · 윈도우로 자라는 시간과 메모리로.",
    "jumok.variants.window_heads": "모델의 어느 헤드가 가중치의 거의 전부를 윈도우 안에 두는지, 그것만 바꾸면 얼마나 아끼는지.",
    "jumok.lesson": "레슨 하나: 과정의 번호나 이름, 또는 직접 쓴 파일(.md).",
    "jumok.Lesson": "쓰인 언어마다 담긴 레슨 하나.",
    "jumok.check": "누군가 쓴 어텐션에 어떤 실수가 있는지: 맞음, 다르게 썼지만 맞음, 또는 어느 실수(하나나 둘).",
    "jumok.Verdict": "jumok.check의 판정.",
    "jumok.serve": "뒤에서 Python이 함께 움직이는 페이지. 혼자서나 한 반이 함께, Ctrl-C를 누를 때까지.",
    "jumok.Trace": "글 하나, 어텐션 층 하나의 모든 헤드. n × n 표는 저장하지 않습니다.",
    "jumok.Reading": "어텐션 층이 하나 이상인 모델이 글 하나에서 한 일: 층마다 Trace 하나.",
    "jumok.Token": "읽는 사람에게 보이는 글 조각 하나.",
    "jumok.Source": "Trace가 어디에서 왔는지, JSON으로.",
    "jumok.errors": "jumok이 거절하는 모든 경우. 까닭은 영어와 한국어로.",
    "jumok.errors.JumokError": "jumok의 모든 거절이 속하는 오류.",
    "jumok.errors.ExampleError": "예제 파일이 잘못되었습니다. 몇째 줄, 몇째 칸인지 알려 줍니다.",
    "jumok.errors.InputError": "주어진 것이 맞지 않습니다.",
    "jumok.errors.MissingExtra": "필요한 패키지가 설치되어 있지 않습니다. 어느 extra인지 알려 줍니다.",
    "jumok.errors.NoLayer": "기록에 그런 층이 없습니다.",
    "jumok.errors.UnknownName": "그런 이름의 토큰, 단계, 언어, 차원, 예제가 없습니다.",
    "jumok.errors.OutputError": "결과를 쓸 수 없습니다.",
    "jumok.errors.OverflowRefused": "곱이 숫자 형식에 담기지 않습니다.",
    "jumok.errors.SavedFileError": "저장된 파일이 잘렸거나, 다른 것이거나, 해롭거나, 나중 버전의 것입니다.",
    "jumok.errors.ShapeError": "두 배열의 축이 서로 맞지 않습니다.",
    "jumok.errors.TooLargeError": "표 전체가 한 번에 만들 수 있는 것보다 큽니다.",
}


class names(nodes.General, nodes.Element):  # noqa: N801 (as docutils calls its nodes)
    """Where the names of a page will stand, once that page was read."""


class Names(SphinxDirective):
    """All names of a page, each with its sentence."""

    required_arguments = 1

    def run(self):
        """What is filled in later."""
        return [names("", page=self.arguments[0])]


def take(app, what, name, _thing, _options, lines):
    """Keep the first sentence of a docstring; in Korean put one before it."""
    if what not in KINDS:
        return
    first = " ".join("\n".join(lines).strip().split("\n\n")[0].split())
    app.env.jumok_sentences[name] = re.split(r"(?<=\.)\s", first, maxsplit=1)[0]
    if app.config.language == "ko" and name in KOREAN:
        lines[:0] = [KOREAN[name], ""]


def fill(app, doctree, page):
    """The names of each page that was asked for, in the order in which they stand there."""
    for place in list(doctree.findall(names)):
        told = [
            nodes.definition_list_item("", term(app, page, name, thing), nodes.definition("", sentence(app, name)))
            for name, thing in documented(app.env, place["page"])
        ]
        place.replace_self(nodes.definition_list("", *told, classes=["jumok-list", "names"]))


def documented(env, page):
    """Those of one page."""
    return [(name, thing) for name, thing in offered(env) if thing.docname == page]


def offered(env):
    """(name, object) of all that is documented under the name that one writes, but for what is inside of a class."""
    found = env.domains["py"].objects.items()
    return [(name, thing) for name, thing in found if thing.objtype in KINDS and not thing.aliased]


def term(app, page, name, thing):
    """The name, which leads to its place."""
    home = next((home for home in CALLED if name == home or name.startswith(f"{home}.")), None)
    shown = name if home is None else CALLED[home] + name.removeprefix(home)
    text = nodes.literal(text=shown)
    return nodes.term("", "", make_refnode(app.builder, page, thing.docname, thing.node_id, text))


def sentence(app, name):
    """What the name is, in a line."""
    text = KOREAN.get(name, "") if app.config.language == "ko" else app.env.jumok_sentences.get(name, "")
    parts = re.split(r"``(.*?)``", text)
    inner = [nodes.literal(text=part) if at % 2 else nodes.Text(part) for at, part in enumerate(parts) if part]
    return nodes.paragraph("", "", *inner)


def nothing_left_out(_app, env):
    """Each name has its Korean sentence, and each sentence its name."""
    for name in sorted({name for name, _thing in offered(env)} ^ set(KOREAN)):
        LOG.warning("docs/site/summaries.py: %s has no Korean sentence, or is not in the reference", name)


def begin(app):
    """Nothing was read yet."""
    app.env.jumok_sentences = {}


def setup(app):
    """Sphinx calls this."""
    app.add_node(names)
    app.add_directive("names", Names)
    app.connect("builder-inited", begin)
    app.connect("autodoc-process-docstring", take, priority=400)  # before docstrings.tidy
    app.connect("doctree-resolved", fill)
    app.connect("env-check-consistency", nothing_left_out)
    return {"parallel_read_safe": False}
