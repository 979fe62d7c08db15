"""The command line: the same verbs as in Python.

Exit codes: 0 done, 2 something given was wrong (one message, no traceback), 130 interrupted.
"""

from __future__ import annotations

import difflib
import io
import itertools
import json
import os
import re
import shlex
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click
import rich  # noqa: F401 (missing here, before anything is printed, rather than half-way)

from . import __version__
from .errors import InputError, JumokError, OutputError, system_reason
from .files import refuse_nameless, write_whole
from .words import LANGS, language, preferred_language, shown

__all__ = ["run"]


SHELLS = ("bash", "zsh", "fish")
MOST_CODES = 3  # named of the letters that a picture's font lacks
SIDES = ("identity", "given")  # what W_Q or W_K can be fixed at
NEARS = ("identity", "zero", "given")  # what a design can stay near to


def run(arguments: Sequence[str]) -> int:
    """Run one command line. Returns the exit code."""
    _open_what_is_closed()
    lang = preferred_language({name: value for name, value in os.environ.items() if name != "JUMOK_LANG"})
    _never_stumble(sys.stdout, sys.stderr)
    try:
        lang = _language_of(arguments)
        code = _commands(lang).main(args=list(arguments), prog_name="jumok", standalone_mode=False)
        sys.stdout.flush()
    except JumokError as error:
        return _refused(error.text(lang))
    except click.UsageError as error:
        command = _called("jumok" if error.ctx is None else error.ctx.command_path)
        return _refused(f"{_usage_problem(error, lang)}\n{_('see_help', lang, command=command)}")
    except click.ClickException as error:
        return _refused(error.format_message())
    except (KeyboardInterrupt, click.Abort):
        return 130
    except (_NobodyReads, BrokenPipeError):
        _silence_stdout()
        return 0
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # rich's answer to it
            return 0
        raise
    except OSError as error:
        _silence_stdout()
        en, ko = system_reason(error)
        return _refused(f"{_('no_output', lang)}: {ko if lang == 'ko' else en}")
    return code if isinstance(code, int) else 0  # click hands on the code of an Exit


def _open_what_is_closed() -> None:
    """A standard stream that was closed (``>&-``) takes what is written and forgets it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (as long as the process)


def _refused(message: str) -> int:
    """One message on the error stream; no sign in it that a terminal would obey."""
    text = _seen(f"jumok: {_as_called(message)}\n")
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
    return 2


def _silence_stdout() -> None:
    """Nothing more can be written; keep Python from saying so again at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return


def _never_stumble(*streams: Any) -> None:
    """What a console's encoding cannot show is written as its code, instead of ending in an error."""
    for stream in streams:
        if getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


_UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

_APART = re.compile("\u2068([^\u2066-\u2069\n]+)\u2069")  # what a sentence keeps apart (words.isolated)


def _seen(text: str) -> str:
    """Lines in which control and direction characters are spelled out, as JSON would, but for pairs that keep text apart."""
    parts = [_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", part) for part in _APART.split(text)]
    return "".join(f"\u2068{part}\u2069" if at % 2 else part for at, part in enumerate(parts))


# words ------------------------------------------------------------------------------------------

WORDS = {
    "about": (
        "Self-attention, number by number. Without a command: the worked example 'student'.",
        "셀프 어텐션 (self-attention)을 숫자 하나하나로 봅니다. 명령 없이 실행하면 예제 'student'를 보여 줍니다.",
    ),
    "attend": (
        "Show every stage of an example, an example file, or a saved .safetensors.",
        "예제, 예제 파일, 저장된 .safetensors의 모든 단계를 보여 줍니다.",
    ),
    "explain": (
        "Explain what happened to a token, step by step. TOKENS: texts (the#2 for the second) or positions from 0.",
        "토큰에 무슨 일이 일어났는지 단계별로 설명합니다. TOKENS: 글자(두 번째는 the#2) 또는 0부터 센 위치.",
    ),
    "draw": (
        "Draw attention: heat map, arrows, every stage, all heads. With -o a file, a live page among them; else as text.",
        "어텐션을 그립니다: 히트맵, 화살표, 모든 단계, 모든 헤드. -o로 파일(조작할 수 있는 페이지 포함)에 쓰고, 없으면 글로 보여 줍니다.",
    ),
    "design": (
        "Find the W_Q and W_K that give the wanted: rows of example files (one W for all), or say why none can. -o writes the designed file.",
        "예제 파일의 wanted:를 이루는 W_Q와 W_K를 찾거나(여러 파일이면 W를 함께 씀) 안 되는 까닭을 밝힙니다. -o로 설계한 파일을 씁니다.",
    ),
    "compare": (
        "Compare two texts: which heads and tokens changed most. With --model two texts under one model; else examples or files.",
        "두 글을 비교합니다: 어느 헤드와 토큰이 가장 많이 달라졌는지. --model을 주면 한 모델이 읽는 두 글을, 없으면 예제나 파일을 비교합니다.",
    ),
    "capture": (
        "Run a model on a text and read its attention, every layer and head. TEXT: the text itself.",
        "모델에 글을 읽히고 모든 층과 헤드의 어텐션을 읽어 냅니다. TEXT: 글 자체.",
    ),
    "learn": (
        "Train a small model on a task and see how its W_Q, W_K, W_V came to be, and what emerged. TASK: a name, a file of "
        "input<TAB>target lines, or an example file. Without it: the tasks.",
        "과제로 작은 모델을 학습시켜 W_Q, W_K, W_V가 어떻게 생겨나는지 봅니다. TASK: 과제 이름, 입력<탭>답 파일, 예제 파일. 없으면 과제 목록.",
    ),
    "check": (
        "Say which mistake is in an attention that you wrote. FILE: my.py, or my.py:name. Runs the code, in a process of its own.",
        "직접 쓴 어텐션에 어떤 실수가 있는지 알려 줍니다. FILE: my.py 또는 my.py:이름. 코드를 따로 떨어진 프로세스에서 실행합니다.",
    ),
    "lesson": (
        "Learn self-attention by doing. LESSON: a number, a name, or a file of your own (.md). Without it: the lessons, and what you did.",
        "직접 해 보며 셀프 어텐션을 배웁니다. LESSON: 번호, 이름, 또는 직접 쓴 .md 파일. 없으면 레슨 목록과 한 일.",
    ),
    "lesson_output": (
        "Write it to a file: .html (to hand out), .ipynb, .md; with --progress .json.",
        "파일로 저장: .html(나누어 줄 페이지), .ipynb, .md. --progress와 함께면 .json.",
    ),
    "notebook": ("As a Jupyter notebook (-o FILE.ipynb, else NAME.ipynb).", "주피터 노트북으로 저장 (-o 파일.ipynb, 없으면 이름.ipynb)."),
    "answers": ("Print it with the answers.", "답과 함께 출력합니다."),
    "lesson_new": ("Write a commented lesson to begin from.", "설명이 달린 시작용 레슨을 씁니다."),
    "lesson_check": ("Check that every number, answer and solution of a lesson is true.", "레슨의 모든 숫자, 답, 풀이가 맞는지 검사합니다."),
    "progress": ("Show what you did; with -o FILE.json take it along.", "한 일을 보여 줍니다. -o 파일.json으로 내보냅니다."),
    "bring": ("Add what a file of --progress holds.", "--progress로 내보낸 파일을 더합니다."),
    "reset": ("Forget what you did.", "한 일을 모두 지웁니다."),
    "new": ("Write a commented example file to begin from.", "설명이 달린 시작용 예제 파일을 씁니다."),
    "examples": ("List the packaged examples, or print one as a file.", "들어 있는 예제 목록, 또는 예제 하나의 파일 내용을 보여 줍니다."),
    "scaling": ("Show why scores are divided by √d_k, measured.", "점수를 √d_k로 나누는 까닭을 측정해서 보여 줍니다."),
    "cost": (
        "Show what each variant of attention costs as texts grow, measured here: full, flash, window, sparse, linear, lowrank. With "
        "--reading: which heads of a model could manage with only a window.",
        "글이 길어질 때 어텐션의 변형마다 드는 비용을 이 기계에서 재어 보여 줍니다: full, flash, window, sparse, linear, lowrank. --reading을 주면 "
        "모델의 어느 헤드가 윈도우로 충분한지 보여 줍니다.",
    ),
    "cost_n": ("Numbers of tokens: 512:16384 (doubling), or 512,3000.", "토큰 수: 512:16384(두 배씩) 또는 512,3000."),
    "cost_d": ("Width of queries, keys and values.", "쿼리, 키, 밸류의 너비."),
    "cost_heads": ("Heads.", "헤드의 수."),
    "cost_kv_heads": ("Key/value heads (else as many as heads).", "키/밸류 헤드의 수 (없으면 헤드만큼)."),
    "cost_variants": ("Which variants, with commas: {known}.", "어느 변형인지, 쉼표로: {known}."),
    "cost_mask": ("Who may read whom: causal or none.", "누가 누구를 볼 수 있는지: causal 또는 none."),
    "cost_window": (
        "Tokens that a query reads in a window, itself among them.",
        "윈도우에서 쿼리가 보는 토큰의 수, 자기 자신 포함.",
    ),
    "cost_sink": (
        "First tokens that are read besides the window (else 4; with --reading 0).",
        "윈도우 밖에서 함께 볼 처음 토큰의 수 (없으면 4, --reading이면 0).",
    ),
    "cost_device": ("Where to measure: cpu or cuda.", "어디에서 잴지: cpu 또는 cuda."),
    "cost_library": (
        "With which library: numpy or torch (else numpy on cpu, torch on cuda).",
        "어느 라이브러리로: numpy 또는 torch (없으면 cpu는 numpy, cuda는 torch).",
    ),
    "cost_budget": (
        "Seconds for all measuring; what would take longer is predicted. 0: formulas only.",
        "재는 데 쓸 시간(초). 더 걸릴 것은 예측합니다. 0이면 수식만.",
    ),
    "cost_reading": (
        "A saved reading (or minilm-tired): which of its heads keep 99% of their weight in the window.",
        "저장된 기록(또는 minilm-tired): 어느 헤드가 가중치의 99%를 윈도우 안에 두는지.",
    ),
    "cost_output": (
        "Write to a file: .html .svg .png .md .csv .json; with --reading .json.",
        "파일로 저장: .html .svg .png .md .csv .json. --reading과 함께면 .json.",
    ),
    "cost_stopped": ("stopped; what was not measured yet is predicted.", "멈췄습니다. 아직 재지 않은 것은 예측한 값입니다."),
    "roles": (
        "List the roles that heads are measured for, or tell one: formula, paper, published figures.",
        "헤드를 측정하는 역할의 목록, 또는 역할 하나의 뜻: 수식, 논문, 발표된 수치.",
    ),
    "measure": (
        "Measure what every head of a model does over a corpus, with baselines and intervals.",
        "모델의 모든 헤드가 말뭉치에서 무엇을 하는지 기준선, 신뢰 구간과 함께 측정합니다.",
    ),
    "measure_output": (
        "Keep the run in this folder: tables (Parquet), a page; stopped, it goes on.",
        "이 폴더에 실행 결과를 둡니다: 표(Parquet), 페이지. 멈추면 이어서 합니다.",
    ),
    "engine": ("Who measures: local (all processors) or ray (a Ray cluster).", "누가 측정할지: local(모든 프로세서) 또는 ray(Ray 클러스터)."),
    "workers": ("Processes (else one a processor).", "프로세스 수 (없으면 프로세서마다 하나)."),
    "limit": ("Only the first N sentences.", "처음 N문장만."),
    "repeated": (
        "Instead of a corpus: N random tokens and the same again (finds induction heads).",
        "말뭉치 대신: 무작위 토큰 N개를 두 번 되풀이 (귀납 헤드를 찾음).",
    ),
    "measure_role": ("Only this role (see jumok roles); may be repeated.", "이 역할만 (jumok roles 참고). 여러 번 쓸 수 있습니다."),
    "measure_head": (
        "Print the card of this head, such as 5.3; also of a run's folder in place of a corpus.",
        "이 헤드의 카드를 출력합니다. 예: 5.3. 말뭉치 대신 실행 결과 폴더를 주어도 됩니다.",
    ),
    "measure_seed": ("Seed of intervals, examples and random tokens.", "신뢰 구간, 예문, 무작위 토큰의 시드."),
    "restart": ("Begin anew what the folder holds.", "폴더에 있는 것을 버리고 처음부터 합니다."),
    "measure_stopped": (
        "stopped; {folder} keeps what was measured. The same command goes on.",
        "멈췄습니다. 측정한 것은 {folder}에 있습니다. 같은 명령을 다시 실행하면 이어서 합니다.",
    ),
    "serve": (
        "Open the page with a live Python behind it, for yourself or a class: designs are solved as you change them, a model reads "
        "what is typed (--model), trainings and measurements run with progress. FILES: what it shows besides the packaged examples.",
        "파이썬이 뒤에서 함께 움직이는 페이지를 엽니다. 혼자서도, 한 반이 함께도 씁니다: 바꾸는 대로 설계를 풀고, 입력한 글을 모델이 읽고(--model), "
        "학습과 측정이 진행 상황을 보이며 돌아갑니다. FILES: 들어 있는 예제 말고 더 보여 줄 것.",
    ),
    "serve_model": (
        "The model that reads what visitors type: a folder, a name in the local cache, or demo. Nothing is downloaded.",
        "방문자가 입력한 글을 읽을 모델: 폴더, 로컬 캐시에 있는 이름, 또는 demo. 아무것도 내려받지 않습니다.",
    ),
    "serve_corpus": (
        "With --model: the corpus over which visitors may measure its heads (.txt, .conllu).",
        "--model과 함께: 방문자가 헤드를 측정할 말뭉치 (.txt, .conllu).",
    ),
    "serve_host": (
        "Address to listen at. Anything but this computer's own (127.0.0.1) makes a secret link; 0.0.0.0 is for a class.",
        "기다릴 주소. 이 컴퓨터만의 주소(127.0.0.1)가 아니면 비밀 링크를 만듭니다. 한 반이 쓰려면 0.0.0.0.",
    ),
    "serve_port": ("Port (else 8765, or a free one).", "포트 (없으면 8765, 또는 비어 있는 것)."),
    "serve_work": (
        "Folder in which trainings, readings and measurements are kept (else one of your own).",
        "학습, 기록, 측정을 둘 폴더 (없으면 사용자 폴더 안).",
    ),
    "serve_allow_code": (
        "Check code that is written in lessons; on this computer only. It is run with limits, but in no sandbox.",
        "레슨에서 쓴 코드를 검사합니다. 이 컴퓨터에서만 됩니다. 한도를 두고 실행하지만 악의를 막지는 못합니다.",
    ),
    "serve_open": ("Open a browser.", "브라우저를 엽니다."),
    "serve_at": ("open {url}", "여십시오: {url}"),
    "serve_prepares": ("preparing {name} …", "{name} 준비 중 …"),
    "serve_other": (
        "port {port} is in use, perhaps by another jumok serve, so this is a free one.",
        "포트 {port}은(는) 쓰이고 있어서(다른 jumok serve일 수 있습니다) 비어 있는 포트로 열었습니다.",
    ),
    "serve_kept": (
        "what is made is kept in {work}; Ctrl-C ends the server, and the same command goes on.",
        "만든 것은 {work}에 남습니다. Ctrl-C로 끝내고, 같은 명령으로 이어서 합니다.",
    ),
    "completion": ("Print the completion script for a shell.", "셸 자동 완성 스크립트를 출력합니다."),
    "lang": ("Language: ko or en (else JUMOK_LANG, then the locale).", "언어: ko 또는 en (없으면 JUMOK_LANG, 그다음 로캘)."),
    "version": ("Show the version.", "버전을 보여 줍니다."),
    "help": ("Show this message.", "이 도움말을 보여 줍니다."),
    "token": ("The token to look at: a text (the#2 for the second) or a position from 0.", "볼 토큰: 글자(두 번째는 the#2) 또는 0부터 센 위치."),
    "stage": ("Only this stage: {stages}.", "이 단계만: {stages}."),
    "mask": ("Mask instead of the example's: none, causal, window:2.", "예제의 마스크 대신 쓸 것: none, causal, window:2."),
    "layer": ("Only this layer, from 0.", "이 층만 (0부터 셈)."),
    "json": ("Plain JSON, every digit.", "JSON으로, 모든 자리."),
    "markdown": ("Markdown tables.", "마크다운 표로."),
    "csv": ("CSV in long form, every digit.", "한 줄에 숫자 하나인 CSV로, 모든 자리."),
    "output": (
        "Write to a file: .json .md .csv .txt, or .safetensors to load again.",
        "파일로 저장: .json .md .csv .txt, 다시 읽으려면 .safetensors.",
    ),
    "explain_output": ("Write to a file: .txt .md .json.", "파일로 저장: .txt .md .json."),
    "draw_output": ("Write to a file: .html (live), .svg .png .md .csv.", "파일로 저장: .html(조작할 수 있는 페이지), .svg .png .md .csv."),
    "compare_output": (
        "Write to a file: .html (live), .svg .png .md .csv .json.",
        "파일로 저장: .html(조작할 수 있는 페이지), .svg .png .md .csv .json.",
    ),
    "design_output": (
        "Write to a file: .yaml (the designed example), .html (live), .json .csv .txt, .safetensors; of several FILES, a folder.",
        "파일로 저장: .yaml(설계한 예제), .html(조작할 수 있는 페이지), .json .csv .txt, .safetensors. FILES가 여럿이면 폴더.",
    ),
    "d_k": ("Width of queries and keys (else the file's).", "쿼리와 키의 너비 (없으면 파일의 것)."),
    "fix_q": ("Keep W_Q: identity, or given (the file's).", "W_Q를 고정: identity 또는 given(파일의 것)."),
    "fix_k": ("Keep W_K: identity, or given (the file's).", "W_K를 고정: identity 또는 given(파일의 것)."),
    "near": (
        "What to stay as close to as the task allows: identity, zero, or given (the file's).",
        "될 수 있는 대로 벗어나지 않을 곳: identity, zero, given(파일의 것).",
    ),
    "design_layer": ("The layer to design, from 0 (else the last).", "설계할 층 (0부터 셈, 없으면 마지막 층)."),
    "ridge": (
        "Keeps W finite where a weight is wanted at 0 (default 1e-8).",
        "가중치 0을 바랄 때 W를 유한하게 하는 능형 항 (기본값 1e-8).",
    ),
    "learn_list": ("List the tasks.", "과제 목록을 보여 줍니다."),
    "show": ("Show what came of a saved run instead of training.", "학습하는 대신 저장된 학습의 결과를 보여 줍니다."),
    "steps": ("Updates in all (else what the task needs).", "단계 수 (없으면 과제에 필요한 만큼)."),
    "learn_seed": ("Seed of the first weights and of the batches (default 0).", "처음 가중치와 배치의 시드 (기본값 0)."),
    "learn_output": (
        "Write to a file; may be given several times: .safetensors (the whole run, saved every few seconds), .html (live), "
        ".json .csv .svg .png .md .txt.",
        "파일로 저장. 여러 번 쓸 수 있음: .safetensors(학습 전체, 몇 초마다 저장), .html(조작할 수 있는 페이지), .json .csv .svg .png .md .txt.",
    ),
    "learn_resume": ("Go on from the .safetensors of -o.", "-o의 .safetensors에서 이어서 학습합니다."),
    "learn_layers": ("Attention layers, 1 to 3.", "어텐션 층의 수, 1~3."),
    "learn_heads": ("Heads in each layer, 1 to 4.", "층마다 헤드의 수, 1~4."),
    "d_model": ("Width of the embeddings.", "임베딩의 너비."),
    "d_mlp": ("Width of the MLP after each layer; 0 for none.", "층마다 뒤따르는 MLP의 너비. 0이면 없음."),
    "norm": ("With or without LayerNorm.", "LayerNorm을 쓸지 말지."),
    "learning_rate": ("Length of a step.", "학습률."),
    "batch": ("Sequences in a step.", "한 단계에 쓰는 문장 수."),
    "step": ("Of a saved training run: the attention at this step.", "저장된 학습의 이 단계의 어텐션."),
    "gradient": (
        "Of a saved training run: what the gradient asks of each stage at --step, and which weights moved.",
        "저장된 학습에서 --step 단계의 기울기가 각 단계에 무엇을 바라고 어떤 가중치가 움직였는지 보여 줍니다.",
    ),
    "probe": ("Of a saved training run: which of the sentences that were looked at, from 0.", "저장된 학습에서 살펴본 문장 가운데 하나 (0부터 셈)."),
    "learn_stopped": ("stopped at step {step}. It goes on with: {again}", "{step}단계에서 멈췄습니다. 이어서 하려면: {again}"),
    "learn_lost": (
        "stopped at step {step}; nothing was saved. With -o a training can go on later: {again}",
        "{step}단계에서 멈췄고 저장하지 않았습니다. -o로 저장하면 나중에 이어서 할 수 있습니다: {again}",
    ),
    "check_kind": ("What is being written: {kinds} (else seen from its names).", "무엇을 쓴 것인지: {kinds} (없으면 이름을 보고 판단)."),
    "check_mask": (
        "What the mask's True means: allowed (may be read) or hidden (else as its name or documentation says, else allowed).",
        "마스크의 True가 뜻하는 것: allowed(볼 수 있음) 또는 hidden(가림). 없으면 이름이나 설명을 따르고, 거기에도 없으면 allowed.",
    ),
    "fix": ("Also say what to write instead.", "무엇으로 고칠지도 알려 줍니다."),
    "resume": ("Continue from the W_Q and W_K in the file.", "파일에 있는 W_Q와 W_K에서 이어서 찾습니다."),
    "capture_output": (
        "Write to a file: .safetensors (to load again), .json, .html (live), .svg .png .md .csv.",
        "파일로 저장: .safetensors(다시 읽기), .json, .html(조작할 수 있는 페이지), .svg .png .md .csv.",
    ),
    "model": (
        "A model's folder, its name in the local cache, or demo (an English encoder). Nothing is downloaded.",
        "모델 폴더, 로컬 캐시에 있는 이름, 또는 demo(영어 인코더). 아무것도 내려받지 않습니다.",
    ),
    "target": ("What the decoder of an encoder-decoder reads.", "인코더-디코더 모델에서 디코더가 읽을 글."),
    "layers": ("Which layers to keep: 0-5 or 0,3,5.", "남길 층: 0-5 또는 0,3,5."),
    "dtype": ("Load the weights as float32 (default), float16 or bfloat16.", "가중치의 형식: float32(기본값), float16, bfloat16."),
    "allow_pickle": (
        "Load weights that are only there as a pickle, which can run code.",
        "pickle로만 있는 가중치도 불러옵니다(코드가 실행될 수 있음).",
    ),
    "cut": (
        "Run the model again without a head (L.H), a row (L.H:query) or a weight (L.H:query>key). Several may be given; an "
        ".html shows them (without --cut, those of the strongest arrows).",
        "헤드(층.헤드), 행(층.헤드:쿼리), 가중치(층.헤드:쿼리>키)를 끊고 모델을 다시 실행합니다. 여러 번 쓸 수 있고 .html에 함께 담깁니다"
        "(--cut이 없으면 가장 강한 화살표의 것).",
    ),
    "renormalise": (
        "With --cut of a weight: share the rest of the row out anew, as if the key were masked.",
        "--cut으로 가중치를 끊을 때 키를 가린 것처럼 행의 나머지를 다시 나눕니다.",
    ),
    "compare_token": ("With --model: look at this token's row only.", "--model과 함께: 이 토큰의 행만 봅니다."),
    "neutral": (
        "With --model: the first text, edited so that nothing should change; several may be given (default: a few simple edits).",
        "--model과 함께: 첫째 글을 달라질 것이 없게 바꾼 글. 여러 번 쓸 수 있습니다(없으면 간단한 것 몇 가지).",
    ),
    "kind": ("What to draw: {kinds}.", "무엇을 그릴지: {kinds}."),
    "head": ("Only this head, from 0.", "이 헤드만 (0부터 셈)."),
    "theme": ("Colours of the picture: light or dark.", "그림의 색: light 또는 dark."),
    "all": ("Every token.", "모든 토큰."),
    "all_heads": (
        "Every head of every layer (else one, where there are more than four).",
        "모든 층의 모든 헤드 (없으면, 넷보다 많을 때 하나만).",
    ),
    "explain_variant": (
        "How this variant of attention comes to the same row, step by step: flash (tile by tile) or linear.",
        "이 변형의 어텐션이 그 행을 어떻게 구하는지 단계별로: flash(타일 하나씩) 또는 linear.",
    ),
    "draw_variant": (
        "Add steps of this variant to a page (.html): flash, tile by tile.",
        "페이지(.html)에 이 변형의 단계를 더합니다: flash(타일 하나씩).",
    ),
    "tile": ("With --variant flash: keys of a tile.", "--variant flash와 함께: 타일 하나에 넣을 키의 수."),
    "values": (
        "Layers whose v a large page carries: 0,5 or all (.html).",
        "큰 페이지에 밸류를 담을 층: 0,5 또는 all (.html).",
    ),
    "from": ("Begin from this packaged example.", "이 예제를 바탕으로 시작합니다."),
    "force": ("Write over a file that is there.", "이미 있는 파일을 덮어씁니다."),
    "d": ("Widths to measure, such as 2,64,1024.", "측정할 차원 수. 예: 2,64,1024."),
    "keys": ("Keys in each row.", "행마다 키의 수."),
    "seed": ("Seed of the random numbers.", "난수의 시드."),
    "saved": ("written: {path}", "저장했습니다: {path}"),
    "codes": (
        "{codes}: the code of letters that the PNG's font lacks; an .svg has them.",
        "{codes}: PNG의 글꼴에 없는 글자를 나타내는 코드입니다. .svg에는 글자가 그대로 있습니다.",
    ),
    "one_reading": (
        "this is the reading {name!r}; the others: --reading {others}",
        "이것은 {name!r} 기록입니다. 다른 기록: --reading {others}",
    ),
    "reading": (
        "Which reading, of a model that has several: encoder, decoder or cross, or a number from 0.",
        "기록이 여럿인 모델에서 어느 기록: encoder, decoder, cross, 또는 0부터 센 번호.",
    ),
    "stopping": (
        "stopping after this step (Ctrl-C again ends at once) …",
        "이 단계를 마치고 멈춥니다 (Ctrl-C를 다시 누르면 바로 끝냅니다) …",
    ),
    "not_reached": (
        "not every wish is reached: a weight is off by up to {off}. Why: jumok design {files}",
        "바란 대로 다 되지는 않았습니다. 가중치가 최대 {off}만큼 다릅니다. 까닭: jumok design {files}",
    ),
    "stopped": (
        "stopped before the best was found: at most {gap} nats above it. A file written with -o FILE.yaml continues with --resume.",
        "가장 나은 것을 찾기 전에 멈췄습니다: 최선보다 많아야 {gap} nat 멂. -o FILE.yaml로 쓴 파일은 --resume으로 이어서 찾습니다.",
    ),
    "see_help": ("See: {command} --help", "도움말: {command} --help"),
    "one_output": (
        "-o writes one file here, and {some} were named. Write the others by further commands",
        "-o는 여기서 파일 하나만 저장하는데 {some}이(가) 왔습니다. 나머지는 명령을 따로 실행해 저장하십시오",
    ),
    "no_output": ("cannot write the output", "출력을 쓸 수 없습니다"),
    "no_option": ("there is no option {got}{maybe}", "{got} 옵션이 없습니다{maybe}"),
    "no_command": ("there is no command {got!r}{maybe} There are: {some}", "{got!r} 명령이 없습니다{maybe} 쓸 수 있는 명령: {some}"),
    "missing": ("{got} is missing. For example: {such_as}", "{got}이(가) 빠졌습니다. 예: {such_as}"),
    "extra": ("{got!r} is one too many here", "{got!r}은(는) 여기에 쓸 수 없습니다"),
    "an_example": ("{got} is an example, not a command. To see it: {command}", "{got}은(는) 명령이 아니라 예제입니다. 보려면: {command}"),
    "a_file": ("{got} is a file, not a command. To see it: {command}", "{got}은(는) 명령이 아니라 파일입니다. 보려면: {command}"),
    "a_lesson": ("{got} is a lesson, not a command. To begin it: {command}", "{got}은(는) 명령이 아니라 레슨입니다. 시작하려면: {command}"),
    "a_task": ("{got} is a task, not a command. To train on it: {command}", "{got}은(는) 명령이 아니라 과제입니다. 학습하려면: {command}"),
    "a_text": (
        "{got!r} is a text; {verb} takes the name of an example, or a file. To see what a model attends to in a text: {command}",
        "{got!r}은(는) 글인데, {verb}에는 예제 이름이나 파일을 씁니다. 모델이 글에서 무엇을 참고하는지 보려면: {command}",
    ),
    "model_folder": ("MODEL_FOLDER", "모델_폴더"),
    "of_a_language": (
        ". demo reads English; a text in Korean needs a model that reads it: {command}",
        ". demo는 영어를 읽습니다. 한국어 글에는 한국어를 읽는 모델이 필요합니다: {command}",
    ),
    "hyphens": ("the example {got!r} is called {name}: {command}", "{got!r} 예제의 이름은 {name}입니다: {command}"),
    "quotes": (
        "{got!r} is one too many here. Words that belong together stand in quotes: {command}",
        "{got!r}은(는) 여기에 쓸 수 없습니다. 띄어 쓴 한 덩어리는 따옴표로 묶습니다: {command}",
    ),
    "language_is": (
        "{where} expects ko or en, got {got!r}. {name} is {code}: {command}",
        "{where}에는 ko나 en을 쓰는데 {got!r}이(가) 왔습니다. {name_ko}는 {code}입니다: {command}",
    ),
    "needs_value": ("{got} needs a value behind it", "{got} 뒤에 값이 필요합니다"),
    "takes_no_value": ("{got} takes no value", "{got}에는 값을 쓸 수 없습니다"),
    "maybe": (". Did you mean {some}?", ". 혹시 {some}입니까?"),
    "name": ("name", "이름"),
    "title": ("title", "제목"),
    "sentence": ("sentence", "문장"),
    "next_explain": ("what happened to one token, in sentences", "토큰 하나에 무슨 일이 있었는지 문장으로"),
    "next_draw": ("a live page: point at a number, change a number", "조작할 수 있는 페이지: 숫자를 가리키고 바꿔 보기"),
    "next_lang": ("the same in Korean", "같은 내용을 영어로"),
    "next_examples": ("seven more sentences: bank and river, pear and ship, it and its antecedent", "다른 예문들: 은행, 배, it이 가리키는 것"),
    "next_lesson": ("learn it step by step, with exercises", "차근차근 배우기, 연습 문제와 함께"),
    "next_serve": ("the page with Python behind it, for you or a class", "Python이 함께 움직이는 페이지, 혼자서나 수업에서"),
    "next_design": ("wish for weights, get the W_Q and W_K that give them", "바라는 가중치를 정하고, 그렇게 되는 W_Q와 W_K 찾기"),
    "next_new": ("an example file of your own", "나만의 예제 파일"),
    "next_scaling": ("why scores are divided by √d_k", "점수를 √d_k로 나누는 까닭"),
}  # fmt: skip


def _(name: str, lang: str, /, **data: Any) -> str:
    return WORDS[name][LANGS.index(lang)].format(**data)


MEANT = {  # what people call a language
    "ko": ("kr", "kor", "korean", "korea", "ko-kr", "ko_kr", "ko_kr.utf-8", "한국어", "한글"),
    "en": ("eng", "english", "us", "uk", "gb", "en-us", "en_us", "en-gb", "en_gb", "en_us.utf-8", "영어"),
}


def _language_of(arguments: Sequence[str]) -> str:
    """--lang wherever it stands, so that help and messages speak it too; then the environment."""
    before = list(arguments)[: list(arguments).index("--")] if "--" in arguments else list(arguments)
    given = [argument.removeprefix("--lang=") for argument in before if argument.startswith("--lang=")]
    given += [value for name, value in itertools.pairwise(before) if name == "--lang"]
    _refuse_nickname("--lang", given[-1] if given else "")
    if not given:
        _refuse_nickname("JUMOK_LANG", os.environ.get("JUMOK_LANG", ""))
    return language(given[-1]) if given else preferred_language()


def _refuse_nickname(where: str, got: str) -> None:
    """Errors: ``InputError`` for a language by another name than jumok's, with that one."""
    name = unicodedata.normalize("NFC", got).lower()
    for code, names in MEANT.items():
        if got != code and name in (code, *names):
            said = {
                "where": where, "got": got, "code": code, "command": f"{where}{' ' if where == '--lang' else '='}{code}",
                "name": {"ko": "Korean", "en": "English"}[code], "name_ko": {"ko": "한국어", "en": "영어"}[code],
            }  # fmt: skip
            raise InputError(en=_("language_is", "en", **said), ko=_("language_is", "ko", **said))


def _called(command: str) -> str:
    """A command as it is typed here: run.py says how it was called."""
    return command.replace("jumok", os.environ.get("JUMOK_CALLED", "jumok"), 1)


def _as_called(text: str) -> str:
    """A text with its commands as they are typed here."""
    return re.sub(rf"(?<![\w./-])jumok (?=(?:{'|'.join(VERBS)})\b)", _called("jumok "), text)


def _quoted(words: str) -> str:
    """One argument that a shell does not take apart; double quotes, which every shell knows, where they do."""
    return shlex.quote(words) if re.search(r'["$`\\!]', words) else f'"{words}"'


def _is_lang_asked() -> bool:
    """Whether --lang was given, before or after the command's name; neither the environment nor the locale is a wish."""
    command = click.get_current_context()
    return any(context.params.get("lang") is not None for context in (command, command.find_root()))


def _usage_problem(error: click.UsageError, lang: str) -> str:
    if isinstance(error, click.NoSuchOption):
        near = ", ".join(error.possibilities or ())
        return _("no_option", lang, got=error.option_name, maybe=_("maybe", lang, some=near) if near else "")
    if isinstance(error, _NoSuchCommand):
        if meant := _meant(error.got, lang):
            return meant
        known = difflib.get_close_matches(error.got, error.known, n=1)
        maybe = _("maybe", lang, some=known[0]) if known else "."
        return _("no_command", lang, got=error.got, maybe=maybe, some=", ".join(error.known))
    if isinstance(error, click.MissingParameter) and error.param is not None and error.ctx is not None:
        such_as = _called(SUCH_AS.get(error.ctx.info_name or "", "jumok --help"))
        if error.ctx.info_name == "capture" and lang == "ko":
            such_as += _("of_a_language", lang, command=_called(KOREAN_CAPTURE))
        return _("missing", lang, got=error.param.human_readable_name, such_as=such_as)
    if isinstance(error, click.BadOptionUsage):
        return _("takes_no_value" if "not take" in error.message else "needs_value", lang, got=error.option_name)
    extra = re.fullmatch(r"Got unexpected extra arguments? \((.*)\)", error.message, re.DOTALL)
    return _one_too_many(error.ctx, extra[1], lang) if extra else error.format_message()


def _meant(got: str, lang: str) -> str:
    """What to type where the name of something else stands in the place of a command; "" where it is of nothing."""
    from .lessons.packaged import names as lessons
    from .sources import example
    from .sources.learn.tasks import NAMES

    word = _for_shell(got)
    if got in example.names():
        return _("an_example", lang, got=got, command=_called(f"jumok attend {word}"))
    if Path(got).suffix in (".yaml", ".yml", ".safetensors") and _is_there(got):
        return _("a_file", lang, got=got, command=_called(f"jumok attend {word}"))
    if got in lessons().values() or (got.isascii() and got.isdigit() and int(got[:6]) in lessons()):
        return _("a_lesson", lang, got=got, command=_called(f"jumok lesson {word}"))
    return _("a_task", lang, got=got, command=_called(f"jumok learn {word}")) if got in NAMES else ""


def _one_too_many(ctx: click.Context | None, extra: str, lang: str) -> str:
    """More words than a command takes: most often one text, or one name, that needs quotes."""
    arguments = [] if ctx is None else [one.name for one in ctx.command.params if isinstance(one, click.Argument)]
    last = None if ctx is None or not arguments else ctx.params.get(arguments[-1] or "")
    if ctx is None or not isinstance(last, str):
        return _("extra", lang, got=extra)
    verb, whole = str(ctx.info_name), f"{last} {extra}"
    is_there = _is_there(whole)
    if verb in ("attend", "draw") and not is_there:
        if _is_name(last) or _near_names(last):
            is_token = verb == "attend" and extra in _words_of(last)
            command = f"jumok {verb} {_for_shell(last)} --token {_quoted(extra)}"
            return _("quotes", lang, got=extra, command=_called(command)) if is_token else _("extra", lang, got=extra)
        return _no_text(verb, whole, lang)
    is_whole = is_there or verb in ("capture", "new") or (verb == "check" and not _is_name(last))
    whole += ".yaml" if verb == "new" and not Path(whole).suffix else ""
    command = _called(f"jumok {verb} {_quoted(whole)}")
    return _("quotes", lang, got=extra, command=command) if is_whole else _("extra", lang, got=extra)


def _no_text(verb: str, text: str, lang: str) -> str:
    from .sources import example

    name = "-".join(text.split())
    if name in example.names():
        return _("hyphens", lang, got=text, name=name, command=_called(f"jumok {verb} {name}"))
    model = (
        f" --model {_('model_folder', lang)}" if re.search("[가-힣]", text) else ""
    )  # without it demo, which reads English
    return _("a_text", lang, got=text, verb=verb, command=_called(f"jumok capture {_quoted(text)}{model}"))


def _text_refused(text: str) -> InputError:
    verb = click.get_current_context().info_name or "attend"
    return InputError(en=_no_text(verb, text, "en"), ko=_no_text(verb, text, "ko"))


def _is_name(name: str) -> bool:
    """Whether an example, a reading or a file is called so."""
    from .files import packaged_readings
    from .sources import example

    return name in example.names() or name in packaged_readings() or _is_there(name)


def _is_there(path: str) -> bool:
    """Whether a file is called so; a text may be longer than a file's name can be."""
    return os.path.exists(path)  # noqa: PTH110 (Path raises for such a text)


def _near_names(name: str) -> list[str]:
    """Examples of nearly that name: it is mistyped, and no text."""
    from .sources import example

    return difflib.get_close_matches(name, example.names(), n=1, cutoff=0.6)


def _words_of(name: str) -> list[str]:
    try:
        return [str(token) for token in _first(_attended(name, None)).tokens]
    except JumokError:
        return []


SUCH_AS = {
    "attend": "jumok attend student",
    "explain": "jumok explain student",
    "draw": "jumok draw student -o student.html",
    "compare": "jumok compare it-tired it-soft",
    "capture": 'jumok capture "The cat sat on the mat because it was tired."',
    "design": "jumok design student",
    "learn": "jumok learn pronoun",
    "check": "jumok check my.py:attention",
    "new": "jumok new my.yaml",
    "completion": "jumok completion bash",
}


VERBS = (
    "attend", "explain", "draw", "compare", "design", "learn", "capture", "measure", "roles", "cost", "lesson", "check", "serve",
    "examples", "example", "new", "completion",
)  # fmt: skip
HELP = ("help", "도움말")


KOREAN_CAPTURE = 'jumok capture "고양이가 피곤해서 매트 위에 앉았다." --model 모델_폴더'


class _NoSuchCommand(click.UsageError):
    def __init__(self, got: str, known: Sequence[str]) -> None:
        super().__init__(f"no command {got!r}")
        self.got, self.known = got, known


class _NobodyReads(Exception):
    """The reader of a pipe has gone; under this name the news passes through click, which would exit with 1."""


@contextmanager
def _passing_through() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise _NobodyReads from None


class _Commands(click.Group):
    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _passing_through():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _passing_through():
            return super().invoke(ctx)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] in HELP:
            args = [*args[1:2], "--help"]
            if len(args) == 1:
                self.parse_args(ctx, args)  # prints it, and ends
        if self.get_command(ctx, args[0]) is None:
            raise _NoSuchCommand(args[0], list(self.commands))
        return super().resolve_command(ctx, args)


class _Output(click.Option):
    """-o, once: of two files the first would be forgotten without a word."""

    def __init__(self, lang: str, words: str, metavar: str = "FILE") -> None:
        names = ["-o", "--output"]
        super().__init__(names, multiple=True, metavar=metavar, help=_(words, lang), shell_complete=_complete_file)
        self.lang = lang

    def process_value(self, ctx: click.Context, value: Any) -> str | None:
        given = super().process_value(ctx, value)
        if len(given) > 1:
            raise click.UsageError(_("one_output", self.lang, some=", ".join(given)), ctx)
        return given[0] if given else None


# commands ---------------------------------------------------------------------------------------


def _commands(lang: str) -> click.Group:
    """The command group, its help in a language."""
    from .picture.grids import SHOWN

    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    lang_option = click.Option(["--lang"], metavar="ko|en", help=_("lang", lang), shell_complete=_complete(LANGS))
    version = click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help=_("version", lang)
    )
    group = _Commands(
        "jumok", callback=_welcome, params=[lang_option, version], invoke_without_command=True, help=_("about", lang),
        context_settings=settings,
    )  # fmt: skip
    example = click.Argument(["name"], shell_complete=_complete_example)
    formats = [click.Option([f"--{name}"], is_flag=True, help=_(name, lang)) for name in ("json", "markdown", "csv")]
    output = _Output(lang, "output")
    explain_output = _Output(lang, "explain_output")
    layer = click.Option(["--layer"], metavar="N", help=_("layer", lang))
    mask = click.Option(["--mask"], help=_("mask", lang), shell_complete=_complete(("none", "causal", "window:2")))
    token = click.Option(["--token"], metavar="T", help=_("token", lang))
    stage = click.Option(
        ["--stage"], metavar="S", help=_("stage", lang, stages=", ".join(SHOWN)), shell_complete=_complete(SHOWN)
    )
    moment = [click.Option([f"--{name}"], metavar="N", help=_(name, lang)) for name in ("step", "probe")]
    _add(group, lang, _attend, [example, token, stage, layer, mask, *moment, *formats, output, lang_option])
    tokens = click.Argument(["tokens"], nargs=-1)
    every = click.Option(["--all", "every"], is_flag=True, help=_("all", lang))
    _add(
        group, lang, _explain,
        [example, tokens, click.Option(["--token"], multiple=True, metavar="T", help=_("token", lang)), every, layer,
         click.Option(["--head"], metavar="N", help=_("head", lang)),
         click.Option(["--all-heads"], is_flag=True, help=_("all_heads", lang)), mask, *moment,
         click.Option(["--gradient"], is_flag=True, help=_("gradient", lang)), *_variant_options(lang, "explain"),
         formats[0], formats[1], explain_output, lang_option],
    )  # fmt: skip
    _add_pictures(group, lang, [stage, token, layer, mask, lang_option], moment, formats[0])
    _add_design(group, lang, [formats[0], formats[2], lang_option])
    _add_capture(group, lang, [layer, formats[0], lang_option])
    _add_learn(group, lang, [formats[0], lang_option])
    _add_lesson(group, lang, [lang_option])
    _add_check(group, lang, [formats[0], lang_option])
    _add(
        group, lang, _new,
        [click.Argument(["path"], shell_complete=_complete_file),
         click.Option(["--from", "origin"], metavar="NAME", help=_("from", lang), shell_complete=_complete_example),
         click.Option(["--force"], is_flag=True, help=_("force", lang)), lang_option],
    )  # fmt: skip
    optional = click.Argument(["name"], required=False, shell_complete=_complete_example)
    _add(group, lang, _examples, [optional, lang_option])
    _add(
        group, lang, _scaling,
        [click.Option(["--d"], metavar="N,N,…", help=_("d", lang)),
         click.Option(["--keys"], default="16", show_default=True, metavar="N", help=_("keys", lang)),
         click.Option(["--seed"], default="0", show_default=True, metavar="N", help=_("seed", lang)), formats[0], lang_option],
    )  # fmt: skip
    _add_cost(group, lang, [formats[0], lang_option])
    _add_measure(group, lang, [formats[0], lang_option])
    _add(group, lang, _roles, [click.Argument(["name"], required=False), formats[0], lang_option])
    _add_serve(group, lang, [lang_option])
    _add(group, lang, _completion, [click.Argument(["shell"], shell_complete=_complete(SHELLS)), lang_option])
    for command in (group, *group.commands.values()):
        _translate_help(command, lang)
    return group


def _variant_options(lang: str, command: str) -> list[click.Option]:
    variant = click.Option(
        ["--variant"], metavar="V", help=_(f"{command}_variant", lang), shell_complete=_complete(["flash"])
    )
    return [variant, click.Option(["--tile"], metavar="N", help=_("tile", lang))]


def _add_pictures(
    group: click.Group, lang: str, shared: list[click.Option], moment: list[click.Option], json: click.Option
) -> None:
    from .picture.kinds import KINDS, THEME_NAMES

    stage, token, layer, mask, lang_option = shared
    head = click.Option(["--head"], metavar="N", help=_("head", lang))
    values = click.Option(["--values"], metavar="N,N|all", help=_("values", lang))
    theme = click.Option(["--theme"], metavar="T", help=_("theme", lang), shell_complete=_complete(THEME_NAMES))
    kinds = {
        name: click.Option(
            ["--kind"], metavar="K", help=_("kind", lang, kinds=", ".join(of)), shell_complete=_complete(of)
        )
        for name, of in KINDS.items()
    }
    files = {name: _Output(lang, name) for name in ("draw_output", "compare_output")}
    name, first, second = (
        click.Argument([one], shell_complete=_complete_example) for one in ("name", "first", "second")
    )
    _add(
        group, lang, _draw,
        [name, kinds["Trace"], stage, token, layer, head, mask, *moment, theme, values, *_variant_options(lang, "draw"),
         files["draw_output"], lang_option],
    )  # fmt: skip
    model = click.Option(["--model"], metavar="M", help=_("model", lang), shell_complete=_complete_file)
    compared = click.Option(["--token"], metavar="T", help=_("compare_token", lang))
    neutral = click.Option(["--neutral"], multiple=True, metavar="TEXT", help=_("neutral", lang))
    _add(
        group, lang, _compare,
        [first, second, kinds["Comparison"], layer, head, mask, theme, model, compared, neutral, json,
         files["compare_output"], lang_option],
    )  # fmt: skip


def _add_capture(group: click.Group, lang: str, shared: list[click.Option]) -> None:
    layer, json, lang_option = shared
    text = click.Argument(["text"])
    model = click.Option(
        ["--model"],
        default="demo",
        show_default=True,
        metavar="M",
        help=_("model", lang),
        shell_complete=_complete_file,
    )
    said = {"target": "TEXT", "reading": "R", "layers": "0-5", "dtype": "D", "cut": "L.H:Q>K"}
    texts = [
        click.Option([f"--{name}"], multiple=name == "cut", metavar=metavar, help=_(name, lang))
        for name, metavar in said.items()
    ]
    flags = [
        click.Option([f"--{name.replace('_', '-')}"], is_flag=True, help=_(name, lang))
        for name in ("renormalise", "allow_pickle")
    ]
    head = click.Option(["--head"], metavar="N", help=_("head", lang))
    output = _Output(lang, "capture_output")
    _add(group, lang, _capture, [text, model, *texts, *flags, layer, head, output, json, lang_option])


def _add_design(group: click.Group, lang: str, shared: list[click.Option]) -> None:
    files = click.Argument(["files"], nargs=-1, required=True, shell_complete=_complete_example)
    output = _Output(lang, "design_output")
    sides = [
        click.Option(
            [f"--fix-{side}"], metavar="|".join(SIDES), help=_(f"fix_{side}", lang), shell_complete=_complete(SIDES)
        )
        for side in ("k", "q")
    ]
    near = click.Option(["--near"], metavar="|".join(NEARS), help=_("near", lang), shell_complete=_complete(NEARS))
    numbers = [
        click.Option(["--d-k"], metavar="N", help=_("d_k", lang)),
        click.Option(["--layer"], metavar="N", help=_("design_layer", lang)),
        click.Option(["--ridge"], metavar="R", help=_("ridge", lang)),
    ]
    resume = click.Option(["--resume"], is_flag=True, help=_("resume", lang))
    _add(group, lang, _design, [files, output, *numbers[:1], *sides, near, *numbers[1:], resume, *shared])


def _add_learn(group: click.Group, lang: str, shared: list[click.Option]) -> None:
    task = click.Argument(["task"], required=False, shell_complete=_complete_task)
    listing = click.Option(["--list", "listing"], is_flag=True, help=_("learn_list", lang))
    show = click.Option(["--show"], metavar="FILE", help=_("show", lang), shell_complete=_complete_file)
    output = click.Option(
        ["-o", "--output"], multiple=True, metavar="FILE", help=_("learn_output", lang), shell_complete=_complete_file
    )
    said = {
        "steps": "steps", "seed": "learn_seed", "layers": "learn_layers", "heads": "learn_heads", "d_model": "d_model",
        "d_mlp": "d_mlp", "learning_rate": "learning_rate", "batch": "batch",
    }  # fmt: skip
    numbers = [
        click.Option([f"--{name.replace('_', '-')}"], metavar="R" if name == "learning_rate" else "N", help=_(of, lang))
        for name, of in said.items()
    ]
    resume = click.Option(["--resume"], is_flag=True, help=_("learn_resume", lang))
    norm = click.Option(["--norm/--no-norm"], default=None, help=_("norm", lang))
    _add(group, lang, _learn, [task, listing, show, *numbers[:2], output, resume, *numbers[2:], norm, *shared])


CHECK_KINDS = (
    "attention",
    "causal",
    "multihead",
    "cross",
    "softmax",
    "scale",
)  # here, so that no other command loads more
CHECK_MASKS = ("allowed", "hidden")


def _add_check(group: click.Group, lang: str, shared: list[click.Option]) -> None:
    file = click.Argument(["file"], shell_complete=_complete_file)
    kind = click.Option(
        ["--kind"],
        metavar="K",
        help=_("check_kind", lang, kinds=", ".join(CHECK_KINDS)),
        shell_complete=_complete(CHECK_KINDS),
    )
    mask = click.Option(
        ["--mask"], metavar="|".join(CHECK_MASKS), help=_("check_mask", lang), shell_complete=_complete(CHECK_MASKS)
    )
    fix = click.Option(["--fix"], is_flag=True, help=_("fix", lang))
    _add(group, lang, _check, [file, kind, mask, fix, *shared])


COST_OPTIONS: dict[str, tuple[str, str | None]] = {  # each with what stands for its value, and its default
    "n": ("FROM:TO", "512:16384"),
    "d": ("N", "64"),
    "heads": ("N", "8"),
    "kv_heads": ("N", None),
    "variants": ("V,V,…", None),
    "mask": ("causal|none", "causal"),
    "window": ("N", "256"),
    "sink": ("N", None),
    "device": ("cpu|cuda", "cpu"),
    "library": ("numpy|torch", None),
    "budget": ("SECONDS", "60"),
    "reading": ("FILE", None),
}
COST_VARIANTS = (
    "full", "flash", "window", "sparse", "sparse:strided", "sparse:big_bird", "sparse:top_k", "linear", "linear:random",
    "lowrank",
)  # fmt: skip


def _add_cost(group: click.Group, lang: str, shared: list[click.Option]) -> None:
    options = [
        click.Option(
            [f"--{name.replace('_', '-')}"], metavar=metavar, default=default, show_default=default is not None,
            help=_(f"cost_{name}", lang, known=", ".join(COST_VARIANTS)),
        )
        for name, (metavar, default) in COST_OPTIONS.items()
    ]  # fmt: skip
    output = _Output(lang, "cost_output")
    _add(group, lang, _cost, [*options, output, *shared])


def _add_measure(group: click.Group, lang: str, shared: list[click.Option]) -> None:
    corpus = click.Argument(["corpus"], required=False, shell_complete=_complete_file)
    metavars = {"engine": "E", "workers": "N", "limit": "N", "repeated": "N"}
    options = [
        click.Option(["--model"], default="demo", show_default=True, metavar="M", help=_("model", lang), shell_complete=_complete_file),
        _Output(lang, "measure_output", "FOLDER"),
        *(
            click.Option(
                [f"--{name}"], metavar=metavar, help=_(name, lang), default="local" if name == "engine" else None,
                shell_complete=_complete(["local", "ray"] if name == "engine" else []),
            )
            for name, metavar in metavars.items()
        ),
        click.Option(["--role"], multiple=True, metavar="R", help=_("measure_role", lang)),
        click.Option(["--head"], metavar="L.H", help=_("measure_head", lang)),
        click.Option(["--seed"], default="0", show_default=True, metavar="N", help=_("measure_seed", lang)),
        click.Option(["--restart"], is_flag=True, help=_("restart", lang)),
        click.Option(["--dtype"], metavar="D", help=_("dtype", lang)),
        click.Option(["--allow-pickle"], is_flag=True, help=_("allow_pickle", lang)),
    ]  # fmt: skip
    _add(group, lang, _measure, [corpus, *options, *shared])


def _add_serve(group: click.Group, lang: str, shared: list[click.Option]) -> None:
    files = click.Argument(["files"], nargs=-1, shell_complete=_complete_file)
    said = {"model": "M", "corpus": "FILE", "host": "ADDRESS", "port": "N", "work": "FOLDER"}
    options = [
        click.Option(
            [f"--{name}"], metavar=metavar, help=_(f"serve_{name}", lang), default="127.0.0.1" if name == "host" else None,
            show_default=name == "host", shell_complete=_complete_file if name in ("model", "corpus", "work") else None,
        )
        for name, metavar in said.items()
    ]  # fmt: skip
    flags = [
        click.Option([f"--{name}"], is_flag=True, help=_(f"serve_{name.replace('-', '_')}", lang))
        for name in ("allow-code", "open")
    ]
    _add(group, lang, _serve, [files, *options, *flags, *shared])


def _add_lesson(group: click.Group, lang: str, shared: list[click.Option]) -> None:
    which = click.Argument(["which"], metavar="[LESSON]", required=False, shell_complete=_complete_lesson)
    output = _Output(lang, "lesson_output")
    flags = [click.Option([f"--{name}"], is_flag=True, help=_(name, lang)) for name in ("notebook", "answers")]
    files = [
        click.Option([f"--{name}"], metavar="FILE", help=_(f"lesson_{name}", lang), shell_complete=_complete_file)
        for name in ("new", "check")
    ]
    kept = [
        click.Option(["--progress"], is_flag=True, help=_("progress", lang)),
        click.Option(["--bring"], metavar="FILE", help=_("bring", lang), shell_complete=_complete_file),
        click.Option(["--reset"], is_flag=True, help=_("reset", lang)),
        click.Option(["--force"], is_flag=True, help=_("force", lang)),
    ]
    _add(group, lang, _lesson, [which, output, *flags, *files, *kept, *shared])


def _add(group: click.Group, lang: str, callback: Callable[..., None], params: list[click.Parameter]) -> None:
    name = callback.__name__.strip("_")

    def call(**given: Any) -> None:
        given.pop("lang", None)
        callback(lang, **given)

    help_text = _(name, lang)
    group.add_command(click.Command(name, callback=call, params=params, help=help_text, short_help=help_text))


def _translate_help(command: click.Command, lang: str) -> None:
    """Click's own --help option, in the language."""
    made = command.get_help_option

    def translated(ctx: click.Context) -> click.Option | None:
        option = made(ctx)
        if option is not None:
            option.help, option.callback = _("help", lang), _print_help(lang)
        return option

    command.get_help_option = translated  # type: ignore[method-assign]


def _welcome(lang: str | None) -> None:
    """Without a command: the worked example, and what to try next."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    chosen = preferred_language() if lang is None else language(lang)
    screen = _screen(chosen)
    screen.attended(_attended("student", None))
    called = _called("jumok")
    other = "en" if chosen == "ko" else "ko"
    commands = [
        (f"{called} explain student studies", _("next_explain", chosen)),
        (f"{called} draw student -o student.html", _("next_draw", chosen)),
        (f"{called} --lang {other}", _("next_lang", chosen)),
        (f"{called} examples", _("next_examples", chosen)),
        (f"{called} lesson", _("next_lesson", chosen)),
        (f"{called} design student", _("next_design", chosen)),
        (f"{called} new my.yaml", _("next_new", chosen)),
        (f"{called} serve", _("next_serve", chosen)),
        (f"{called} scaling", _("next_scaling", chosen)),
    ]
    screen.next_steps(commands)


HEADINGS = {"Usage:": "사용법:", "Options:": "옵션:", "Commands:": "명령:", "[default:": "[기본값:"}


def _print_help(lang: str) -> Callable[..., None]:
    def show(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
        if not value or ctx.resilient_parsing:
            return
        text = ctx.get_help()
        for en, ko in HEADINGS.items() if lang == "ko" else ():
            text = text.replace(en, ko)
        _say(text)
        ctx.exit()

    return show


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        _say(f"jumok {__version__}")
        ctx.exit()


def _attend(
    lang: str, name: str, token: str | None, stage: str | None, layer: str | None, mask: str | None, step: str | None,
    probe: str | None, json: bool, markdown: bool, csv: bool, output: str | None,
) -> None:  # fmt: skip
    from .picture.grids import SHOWN
    from .trace import unknown_name

    if stage is not None and stage not in SHOWN:
        raise unknown_name("stage", "단계", stage, SHOWN)
    form = _form(output, {"json": json, "markdown": markdown, "csv": csv})
    record = _layer_of(_attended(name, mask, step, probe), layer)
    queries = None if token is None else [_token_of(record, token)]
    if form == "safetensors" and (stage or token):
        raise InputError(
            en="a .safetensors file holds the whole record; leave out --stage and --token, or write a .json, .csv or .md.",
            ko=".safetensors 파일에는 기록 전체가 들어갑니다. --stage와 --token을 빼거나 .json, .csv, .md로 저장하십시오.",
        )
    if form == "safetensors" and output is not None:
        record.save(output)
        _tell(_("saved", lang, path=output))
        return
    _deliver(lang, output, form, lambda file: _write_attended(file, lang, record, stage, queries, form, name))


def _suggest_after(screen: Any, lang: str, record: Any, name: str) -> None:
    """What somebody who reads the stages of a record may try next."""
    word, details = _for_shell(name), _first(record).source.details
    steps = [
        ("explain", _("next_explain", lang)),
        *([("design", _("next_design", lang))] if details.get("wanted") else []),
    ]
    screen.next_steps([(_called(f"jumok {verb} {word}"), said) for verb, said in steps])


def _write_attended(
    file: IO[str], lang: str, record: Any, stage: str | None, queries: list[int] | None, form: str, name: str
) -> None:
    from .layer_numbers import layer_numbers
    from .picture import plain
    from .trace import STAGES, Trace

    layers = [record] if isinstance(record, Trace) else list(record)
    numbers = layer_numbers(record)
    several = ["x", "q", "k", "v", *(one for one in STAGES if one != "weighted_values")]
    stages = [stage] if stage else [*several, *(["weighted_values"] if queries else [])]
    if form == "json":
        is_whole = stage is None and queries is None
        plain.refuse_too_much(layers, ["x", "q", "k", "v"] if is_whole else stages, queries)
        _dump(
            file,
            record.to_json() if is_whole else _stages_json(dict(zip(numbers, layers, strict=True)), stages, queries),
        )
    elif form == "csv":
        file.write(plain.to_csv(record, stages, queries))
    elif form == "markdown":
        file.write(plain.to_markdown(record, stages, queries, lang))
    else:
        screen = _screen(lang, file)
        if stage is None:
            screen.attended(record, None if queries is None else queries[0], _pair_of(record))
            if file is sys.stdout and sys.stdout.isatty():
                _suggest_after(screen, lang, record, name)
            return
        for at, one in zip(numbers, layers, strict=True):
            if len(layers) > 1:
                screen.title(screen.word("layer", n=at))
            screen.stage(one, stage, None if queries is None else queries[0], whole=True, only=queries is not None)


def _stages_json(layers: Mapping[int, Any], stages: Sequence[str], queries: list[int] | None) -> Any:
    from .picture.grids import grids_of

    def entry(at: int, one: Any) -> dict[str, Any]:
        grids = [grid for stage in stages for grid in grids_of(one, stage, queries)]
        return {
            "layer": at,
            "grids": [
                {"stage": g.stage, "head": g.head, "query": g.query, "rows": g.rows, "columns": g.columns, "values": g.values.tolist()}
                for g in grids
            ],
        }  # fmt: skip

    return {"format": "jumok-stages", "version": 1, "layers": [entry(at, one) for at, one in layers.items()]}


def _explain(
    lang: str, name: str, tokens: tuple[str, ...], token: tuple[str, ...], every: bool, layer: str | None,
    head: str | None, all_heads: bool, mask: str | None, step: str | None, probe: str | None, gradient: bool,
    variant: str | None, tile: str | None, json: bool, markdown: bool, output: str | None,
) -> None:  # fmt: skip
    from .explanation.explanation import default_token, explain
    from .picture.labels import readable
    from .trace import Reading, Trace

    if variant is not None or tile is not None:
        from .cli_variant import explain_variant

        moment = {"mask": mask, "step": step, "probe": probe}
        place = {"tokens": (*tokens, *token), "every": every, "layer": layer, "head": _head_of(head, all_heads)}
        flags = {"json": json, "markdown": markdown}
        explain_variant(
            lang, name, {"variant": variant, "tile": tile, "gradient": gradient, **place}, moment, flags, output
        )
        return
    form = _form(output, {"json": json, "markdown": markdown})
    if form in ("csv", "safetensors"):
        raise InputError(
            en=f"an explanation is written as .txt, .md or .json, not as {output!r}.",
            ko=f"설명은 .txt, .md, .json으로 저장합니다({output!r} 불가).",
        )
    if gradient:
        from .cli_learn import explain_gradient

        asked = {"step": _place("--step", step), "probe": _place("--probe", probe), "layer": _place("--layer", layer)}
        explain_gradient(lang, name, [*tokens, *token], asked, form, output)
        return
    only = _head_of(head, all_heads)
    is_whole = not (tokens or token or every) and layer is None and only is None
    if tokens and "." not in name and not (_is_name(name) or _near_names(name)):
        raise _text_refused(" ".join((name, *tokens)))
    found = _attended(name, mask, step, probe, whole=is_whole)
    if not isinstance(found, Trace | Reading):
        from .cli_learn import explain_run

        explain_run(lang, found, form, output)
        return
    whole = readable(found)
    record = _layer_of(whole, layer)
    wanted = [_token_of(record, one) for one in (*_together(record, tokens), *token)]
    wanted = list(range(len(record.tokens))) if every else wanted or [default_token(_first(record))]
    pair = _pair_of(record) if layer is None else None
    explained = (explain(record, at, lang, pair=pair, head=only) for at in wanted)  # one after the other, however many

    def write(file: IO[str]) -> None:
        if form == "json":
            _dump(file, [one.to_json() for one in explained])
        elif form == "markdown":
            file.write("\n".join(_explanation_markdown(one, lang) for one in explained))
        else:
            screen = _screen(lang, file)
            for one in explained:
                screen.explained(one)

    _deliver(lang, output, form, write)


def _head_of(head: str | None, all_heads: bool) -> Any:
    """Which heads are explained: a number, "all", or None for as many as can be read."""
    if head is not None and all_heads:
        raise InputError(
            en="--head and --all-heads do not go together. Leave one of them out.",
            ko="--head와 --all-heads는 함께 쓸 수 없습니다. 하나를 빼십시오.",
        )
    return "all" if all_heads else _place("--head", head)


def _explanation_markdown(explanation: Any, lang: str) -> str:
    from .picture.plain import escaped

    numbered = [(f"{n}. {one.title}", one.lines) for n, one in enumerate(explanation.sections(lang), start=1)]
    return "\n".join([f"# {escaped(shown(explanation.token))}", "", _sections_markdown(numbered)])


def _sections_markdown(sections: Sequence[tuple[str, Sequence[tuple[bool, str]]]]) -> str:
    """Titles with their lines, each with whether it is an entry of a list, as Markdown."""
    from .picture.plain import escaped

    lines: list[str] = []
    for title, said in sections:
        lines += [f"## {escaped(title)}", ""]
        for at, (is_entry, line) in enumerate(said):
            before = said[at - 1][0] if at else is_entry
            lines += ([""] if before != is_entry else []) + [f"- {escaped(line)}" if is_entry else escaped(line)]
            lines += [] if is_entry else [""]
        lines.append("")
    return "\n".join(lines)


def _draw(
    lang: str, name: str, kind: str | None, stage: str | None, token: str | None, layer: str | None, head: str | None,
    mask: str | None, step: str | None, probe: str | None, theme: str | None, values: str | None, variant: str | None,
    tile: str | None, output: str | None,
) -> None:  # fmt: skip
    from .picture.drawing import draw

    of_page = _page_options(output, values, variant, tile)
    is_whole = kind in (None, "curves") and stage is None and token is None and layer is None and head is None
    record = _attended(name, mask, step, probe, whole=is_whole)
    picture = draw(
        record, kind, stage=stage, layer=_place("--layer", layer), head=_place("--head", head),
        query=None if token is None else _token_of(record, token), lang=lang, theme=theme or "light",
    )  # fmt: skip
    _hand_over(lang, picture, output, **of_page)


def _page_options(output: str | None, values: str | None, variant: str | None, tile: str | None) -> dict[str, Any]:
    """What only a live page takes."""
    for name, value in (("values", values), ("variant", variant)):
        if value is not None and (output is None or Path(output).suffix.lower() != ".html"):
            raise InputError(
                en=f"--{name} is for a live page: -o page.html.",
                ko=f"--{name}는 조작할 수 있는 페이지(-o page.html)에만 쓸 수 있습니다.",
            )
    options: dict[str, Any] = {}
    if values is not None:
        options["values"] = "all" if values == "all" else [_whole("--values", at) for at in values.split(",")]
    if variant is not None or tile is not None:
        from .cli_variant import tile_of

        options |= {"variant": variant, "tile": tile_of(variant, tile)}
    return options


def _capture(lang: str, text: str, output: str | None, json: bool, **asked: Any) -> None:
    from .cli_capture import capture_text

    capture_text(lang, text, output, json, asked)


def _compare(
    lang: str, first: str, second: str, kind: str | None, layer: str | None, head: str | None, mask: str | None,
    theme: str | None, model: str | None, token: str | None, neutral: tuple[str, ...], json: bool, output: str | None,
) -> None:  # fmt: skip
    from .measurement.comparison import compare
    from .picture.drawing import draw

    if model is not None:
        from .cli_capture import compare_texts

        compare_texts(lang, model, (first, second), token, neutral, json, output)
        return
    if token is not None or neutral:
        raise InputError(
            en="--token and --neutral are for two texts under a model: add --model demo, or a model's folder.",
            ko="--token과 --neutral은 한 모델로 두 글을 비교할 때 씁니다. --model demo나 모델 폴더를 더하십시오.",
        )
    _refuse_texts(first, second)
    found = compare(_attended(first, mask), _attended(second, mask))
    if json or (output is not None and Path(output).suffix.lower() == ".json"):
        form = "json" if output is None else _form(output, {"json": json})
        _deliver(lang, output, form, lambda file: _dump(file, found.to_json()))
        return
    picture = draw(
        found, kind, layer=_place("--layer", layer), head=_place("--head", head), lang=lang, theme=theme or "light"
    )
    _hand_over(lang, picture, output)


def _refuse_texts(*names: str) -> None:
    """Two texts without a model: that they are no examples helps nobody."""
    texts = [name for name in names if re.search(r"\s", name.strip()) and not _is_there(name)]
    if texts:
        raise InputError(
            en=f"without --model two examples or files are compared, and {texts[0]!r:.60} is neither. To compare two texts, say "
            f"which model reads them: --model demo, or a model's folder.",
            ko=f"--model이 없으면 예제나 파일을 비교하는데 {texts[0]!r:.60}은(는) 둘 다 아닙니다. 두 글을 비교하려면 읽을 모델을 밝히십시오: "
            f"--model demo, 또는 모델 폴더.",
        )


def _design(lang: str, files: tuple[str, ...], output: str | None, json: bool, csv: bool, **asked: Any) -> None:
    from .cli_design import design_files

    design_files(lang, files, output, {"json": json, "csv": csv}, asked)


def _learn(
    lang: str, task: str | None, listing: bool, show: str | None, output: tuple[str, ...], resume: bool, json: bool, **asked: Any
) -> None:  # fmt: skip
    from . import cli_learn

    if show is not None and task is not None:
        raise InputError(
            en=f"--show prints a saved run and {task!r} is a task to train on; leave one out.",
            ko=f"--show는 저장된 학습을 보여 주고 {task!r}은(는) 학습할 과제입니다. 하나만 쓰십시오.",
        )
    if show is not None:
        cli_learn.show_run(lang, show, output, json)
    elif task is None or listing:
        cli_learn.list_tasks(lang)
    else:
        cli_learn.learn_task(lang, task, output, resume, json, asked)


def _lesson(lang: str, which: str | None, output: str | None, **asked: Any) -> None:
    from . import cli_lesson

    cli_lesson.run_lesson(lang, which, output, asked)


def _cost(lang: str, output: str | None, json: bool, **asked: Any) -> None:
    from . import cli_cost

    cli_cost.run_cost(lang, output, json, asked)


def _check(lang: str, file: str, kind: str | None, mask: str | None, fix: bool, json: bool) -> None:
    from . import cli_check

    cli_check.check_file(lang, file, kind, mask, fix, json)


def _measure(lang: str, corpus: str | None, output: str | None, json: bool, **asked: Any) -> None:
    from . import cli_measure

    cli_measure.measure_corpus(lang, corpus, output, json, asked)


def _save_picture(lang: str, picture: Any, output: str, **options: Any) -> None:
    picture.save(output, **options)
    _tell_picture(lang, picture, output)


def _tell_picture(lang: str, picture: Any, output: str) -> None:
    _tell(_("saved", lang, path=output))
    if Path(output).suffix.lower() == ".png" and (codes := picture.codes()):
        _tell(_("codes", lang, codes=", ".join(codes[:MOST_CODES]) + (", …" if len(codes) > MOST_CODES else "")))


def _serve(lang: str, files: tuple[str, ...], **asked: Any) -> None:
    from . import cli_serve

    cli_serve.run_server(lang, files, asked)


def _roles(lang: str, name: str | None, json: bool) -> None:
    from . import cli_measure

    cli_measure.tell_roles(lang, name, json)


def _hand_over(lang: str, picture: Any, output: str | None, **options: Any) -> None:
    """A picture into its file, or as text on the screen."""
    if output is not None:
        _save_picture(lang, picture, output, **options)
        return
    from .picture.printed import printed

    printed(_screen(lang), picture)


def _place(name: str, text: str | None) -> int | None:
    return None if text is None else _whole(name, text)


def _new(lang: str, path: str, origin: str | None, force: bool) -> None:
    from .sources import example

    if Path(path).suffix.lower() not in (".yaml", ".yml"):
        named = _for_shell((path or "my") + ".yaml")
        raise InputError(
            en=f"an example file ends in .yaml, got {path!r}. Try: jumok new {named}",
            ko=f"예제 파일 이름은 .yaml로 끝나야 하는데 {path!r}이(가) 왔습니다. 예: jumok new {named}",
        )
    if os.path.lexists(path) and not force:
        raise OutputError(
            en=f"{path} is there already. Choose another name, or --force to write over it.",
            ko=f"{path} 파일이 이미 있습니다. 다른 이름을 쓰거나 --force로 덮어쓰십시오.",
        )
    text = example.starter(lang) if origin is None else _packaged(origin)
    data = text.encode("utf-8")
    write_whole(path, lambda name: Path(name).write_bytes(data))
    _say(_("saved", lang, path=path))
    has_wishes = re.search(r"^wanted:", text, re.MULTILINE) is not None
    steps = [("attend", _("attend", lang)), *([("design", _("next_design", lang))] if has_wishes else [])]
    _screen(lang).next_steps([(_called(f"jumok {verb} {_for_shell(path)}"), said) for verb, said in steps])


def _for_shell(path: str) -> str:
    """A path as a shell takes it; letters of any script need no quotes."""
    path = f".{os.sep}{path}" if path.startswith("-") else path
    return path if re.fullmatch(r"[\w./\\:~+@%-]+", path) else shlex.quote(path)


def _packaged(name: str) -> str:
    from .sources import example
    from .trace import unknown_name

    if name not in example.names():
        raise unknown_name("example", "예제", name, example.names())
    return example.load(name).text


def _examples(lang: str, name: str | None) -> None:
    from .cli_examples import run_examples

    run_examples(lang, name)


def _scaling(lang: str, d: str | None, keys: str, seed: str, json: bool) -> None:
    from .measurement.spread import scaling

    widths = None if d is None else [_whole("--d", part) for part in d.split(",")]
    measured = scaling(widths, n_keys=_whole("--keys", keys), seed=_whole("--seed", seed))
    if json:
        _dump(sys.stdout, measured.to_json())
    else:
        _screen(lang).spread(measured)


def _whole(name: str, text: str) -> int:
    text = text.strip()
    if text.isascii() and text.isdigit() and len(text) < 12:
        return int(text)
    example = {"--d": "2,64,1024", "--values": "0,5"}.get(name)
    such_as = f", such as {example}" if example else ""
    such_as_ko = f"(예: {example})" if example else ""
    raise InputError(
        en=f"{name} expects whole numbers, 0 or more{such_as}; got {text!r}.",
        ko=f"{name}에는 0 이상의 정수가 필요한데{such_as_ko} {text!r}이(가) 왔습니다.",
    )


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(
            en=f"{name} expects a number, got {text!r}.", ko=f"{name}에는 수가 필요한데 {text!r}이(가) 왔습니다."
        ) from None


def _completion(lang: str, shell: str) -> None:  # noqa: ARG001 (a script has no language)
    from click.shell_completion import get_completion_class

    from .trace import unknown_name

    if shell not in SHELLS:
        raise unknown_name("shell", "셸", shell, SHELLS)
    cls = get_completion_class(shell)
    assert cls is not None
    _say(cls(_commands("en"), {}, "jumok", "_JUMOK_COMPLETE").source())


# shared -----------------------------------------------------------------------------------------


def _attended(
    name: str, mask: str | None, step: str | None = None, probe: str | None = None, whole: bool = False
) -> Any:
    """What a name holds, attended: a Trace, or a Reading of several layers. Of a training run the moment that is asked for,
    or else its end; where ``whole`` is meant and no moment is asked for, the Run.
    """
    from .runs import wanted
    from .sources.example import Example
    from .trace import Reading
    from .verbs import attend, load

    if re.search(r"\s", name.strip()) and not re.search(r"\.\w+$", name) and not _is_there(name):
        raise _text_refused(name)
    loaded = load(name)
    of_run = wanted(loaded, _place("--step", step), _place("--probe", probe), whole)
    if isinstance(loaded, Example):
        return attend(loaded, rule=None if mask is None else _mask(mask))
    if mask is not None:
        raise InputError(
            en="--mask is for examples; a saved record keeps the rule that it was made with.",
            ko="--mask는 예제에만 쓸 수 있습니다. 저장된 기록은 만들 때의 규칙을 간직합니다.",
        )
    if of_run is not None:
        return of_run
    if isinstance(loaded, Reading) and not loaded.layers:
        raise InputError(
            en=f"{name} holds no layer, so there is nothing to show.",
            ko=f"{name}에는 층이 하나도 없어서 보여 줄 것이 없습니다.",
        )
    return loaded


def _mask(text: str) -> Any:
    from .path import allowed

    name, _colon, n_back = text.partition(":")
    if name == "window" and n_back.isascii() and n_back.isdigit() and len(n_back) < 7:
        return allowed.window(int(n_back))
    if text in ("none", "causal"):
        return {"none": allowed.everything, "causal": allowed.causal}[text]()
    raise InputError(
        en=f"--mask expects none, causal or window:N (N earlier tokens), got {text!r}.",
        ko=f"--mask에는 none, causal, window:N(앞 토큰 N개)이 필요한데 {text!r}이(가) 왔습니다.",
    )


def _layer_of(record: Any, layer: str | None) -> Any:
    from .layer_numbers import layer_place
    from .trace import Trace

    if layer is None:
        return record
    at = layer_place(record, _whole("--layer", layer), "--layer")
    return record if isinstance(record, Trace) else record[at]


def _first(record: Any) -> Any:
    from .trace import Trace

    return record if isinstance(record, Trace) else record[0]


def _token_of(record: Any, token: str) -> int:
    """A token by its text; where no token reads so, digits are a position."""
    first = _first(record)
    try:
        at: int = first.index(token)
    except InputError:
        if not re.fullmatch(r"-?[0-9]{1,10}", token):
            raise
        at = first.index(int(token))
    return at


def _together(record: Any, words: Sequence[str]) -> Iterator[str]:
    """Texts of tokens as they were typed; words that are a token only together are one: deep learning."""
    known, at = {str(token) for token in _first(record).tokens}, 0
    while at < len(words):
        ends = [end for end in range(at + 2, len(words) + 1) if " ".join(words[at:end]) in known]
        end = ends[-1] if ends and words[at] not in known else at + 1
        yield " ".join(words[at:end])
        at = end


def _pair_of(record: Any) -> Any:
    """The other sentence of a packaged pair, read by the same rules as this one, or None."""
    from .sources import example
    from .trace import Trace
    from .verbs import attend

    name = _first(record).source.details.get("pair")
    if isinstance(record, Trace) or name not in example.names():
        return None
    rules = [layer.rule for layer in record]
    alike = all(rule.allowed == rules[0].allowed for rule in rules)
    try:
        pair = attend(example.load(name), rule=rules[0].allowed if alike else None)
    except InputError:  # a table for another number of tokens
        return None
    return pair if not isinstance(pair, Trace) and [layer.rule for layer in pair] == rules else None


FORMS = {".json": "json", ".md": "markdown", ".csv": "csv", ".txt": "text", ".safetensors": "safetensors"}


def _form(output: str | None, flags: dict[str, bool], suffixes: Mapping[str, str] = FORMS) -> str:
    """How to write: by the one flag, else by the file's suffix, else text."""
    if output is not None:
        refuse_nameless(output)
    chosen = [name for name, on in flags.items() if on]
    if len(chosen) > 1:
        raise InputError(
            en=f"one format at a time, got {' and '.join('--' + name for name in chosen)}.",
            ko=f"형식은 하나만 고를 수 있는데 {', '.join('--' + name for name in chosen)}이(가) 왔습니다.",
        )
    suffix = "" if output is None else Path(output).suffix.lower()
    if chosen and suffixes.get(suffix, chosen[0]) != chosen[0]:
        raise InputError(
            en=f"--{chosen[0]} and {output!r} say two ways to write; leave one out.",
            ko=f"--{chosen[0]}와(과) {output!r}은(는) 서로 다른 형식입니다. 하나만 쓰십시오.",
        )
    if chosen or output is None:
        return chosen[0] if chosen else "text"
    if suffix in suffixes:
        return suffixes[suffix]
    if Path(output).exists() and not Path(output).is_file() and not Path(output).is_dir():
        return "text"  # a device
    raise InputError(
        en=f"the file's name says how to write: {', '.join(suffixes)}; got {output!r}.",
        ko=f"파일 이름의 끝으로 형식을 정합니다: {', '.join(suffixes)}. {output!r}이(가) 왔습니다.",
    )


def _deliver(lang: str, output: str | None, form: str, write: Callable[[IO[str]], None]) -> None:
    """To the screen, or into a file: whole or not at all. CSV files begin with a mark that spreadsheets need for Hangul."""
    if (
        output is None and form == "csv" and sys.stdout.isatty()
    ):  # a program gets the tokens as they are, a terminal not
        text = io.StringIO()
        write(text)
        sys.stdout.write(_seen(text.getvalue()))
        return
    if output is None:
        write(sys.stdout)
        return

    def into(name: str) -> None:
        with open(name, "w", encoding="utf-8-sig" if form == "csv" else "utf-8", newline="\n") as file:
            write(file)

    write_whole(output, into)
    _tell(_("saved", lang, path=output))


def _say(text: str) -> None:
    sys.stdout.write(_seen(text) + "\n")


def _tell(text: str) -> None:
    """What was done, beside the output."""
    sys.stderr.write(_seen(_as_called(text)) + "\n")


def _dump(file: IO[str], plain: Any) -> None:
    """JSON on a stream; letters that its encoding cannot show, or a terminal would obey, are escaped, which JSON reads back."""
    encoding = (getattr(file, "encoding", None) or "utf-8").lower()
    text = json.dumps(plain, ensure_ascii=not encoding.startswith(("utf-8", "utf8")), allow_nan=False)
    file.write(_seen(text) + "\n")


def _screen(lang: str, file: IO[str] | None = None) -> Any:
    """A screen on the standard output, or plain in a file."""
    from .picture.terminal import Screen

    if file is None or file is sys.stdout:
        return Screen(sys.stdout, lang)
    from rich.console import Console

    return Screen(file, lang, Console(file=file, highlight=False, markup=False, emoji=False, color_system=None))


def _complete(words: Sequence[str]) -> Callable[..., list[str]]:
    return lambda _ctx, _param, incomplete: [word for word in words if word.startswith(incomplete)]


def _complete_example(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    from .sources import example

    found = [CompletionItem(name) for name in example.names() if name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="file")]


def _complete_task(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    from .sources.learn.tasks import NAMES

    found = [CompletionItem(name) for name in NAMES if name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="file")]


def _complete_lesson(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    from .lessons.packaged import names

    found = [CompletionItem(name) for name in names().values() if name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="file")]


def _complete_file(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]
