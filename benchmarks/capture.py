"""What reading a model costs, beside other ways to get at its attention, in one process: python benchmarks/capture.py

    python benchmarks/capture.py --model FOLDER --n 128,512,2048 --rounds 5 --threads 2

Every round runs each way once, in a new order; its time is divided by that round's plain forward with fused attention
(the floor), so that a busy machine hits all alike; the table gives medians over the rounds. "floor again" is the noise.
TransformerLens and nnsight are measured where they are installed. ``--part lazy`` measures what is read from a record
afterwards: a row of every head, a whole head, the head table, and how near the weights are to eager ones.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import random
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from jumok.measurement.summaries import summaries
from jumok.sources.capture.capturing import Captured
from jumok.trace import Reading

Way = Callable[[Any], Any]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def main() -> None:
    """Run and print one line a way and length, as text and as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="folder of a transformers model")
    parser.add_argument("--n", default="32,128,512,2048")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--part", choices=("ways", "lazy", "long"), default="ways")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: what the process computed, on a busy machine"
    )
    parser.add_argument("--most-eager", type=int, default=2048, help="no n × n table beyond this length")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    model = load(given.model, "sdpa")
    for n in map(int, given.n.split(",")):
        {"ways": ways, "lazy": lazy, "long": long}[given.part](given, model, n)


def load(folder: str, attention: str) -> Any:
    """The model, float32, with one back end."""
    kind = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))["architectures"][0]
    maker = getattr(transformers, kind, transformers.AutoModel)
    return maker.from_pretrained(
        folder, dtype=torch.float32, attn_implementation=attention, local_files_only=True
    ).eval()


def inputs_of(model: Any, n: int) -> dict[str, Any]:
    """Random tokens: the time does not depend on which."""
    ids = torch.randint(1000, model.config.vocab_size, (1, n), generator=torch.Generator().manual_seed(n))
    return {"input_ids": ids} | (
        {"use_cache": False} if getattr(model.config, "is_decoder", False) or hasattr(model, "lm_head") else {}
    )


def captured(model: Any, inputs: dict[str, Any]) -> Reading:
    """A reading with q, k and v kept and rows verified."""
    with torch.no_grad(), Captured(model) as reading:
        model(**inputs)
    assert len(reading), reading.refused
    return reading


def held_bytes(reading: Reading) -> int:
    """What q, k and v of all layers take."""
    return sum(trace.q.nbytes + trace.k.nbytes + trace.v.nbytes for trace in reading)


# ways ---------------------------------------------------------------------------------------------


def ways(given: Any, model: Any, n: int) -> None:
    """Every way to the attention of one text, interleaved."""
    inputs = inputs_of(model, n)
    table: dict[str, Way] = {
        "floor": lambda i: forward(model, i),
        "floor again": lambda i: forward(model, i),
        "jumok": lambda i: captured(model, i),
    }
    if n <= given.most_eager:
        eager = load(given.model, "eager")
        table["output_attentions"] = lambda i: forward(eager, i | {"output_attentions": True})
        table |= peers(given.model, model, eager)
    clock = CLOCKS[given.clock]
    times: dict[str, list[float]] = {name: [] for name in table}
    failed: dict[str, str] = {}
    for n_round in range(given.rounds + 1):
        for name in random.sample(list(table), len(table)):
            gc.collect()
            start = clock()
            try:
                made = table[name](inputs)
            except Exception as error:  # a peer that cannot is told, not hidden
                failed[name] = f"{type(error).__name__}: {error}"[:200]
                continue
            if n_round:
                times[name].append(clock() - start)
            if name == "jumok":
                kept = held_bytes(made)
            del made
    floor = times["floor"]
    for name, some in times.items():
        if name in failed or not some:
            print(json.dumps({"n": n, "way": name, "failed": failed.get(name)}), flush=True)
            continue
        ratio = statistics.median(a / b for a, b in zip(some, floor, strict=True))
        line = {"n": n, "way": name, "median_s": round(statistics.median(some), 4), "ratio": round(ratio, 3)}
        print(json.dumps(line | ({"kept_mb": round(kept / 1e6, 1)} if name == "jumok" else {})), flush=True)


def forward(model: Any, inputs: dict[str, Any]) -> Any:
    """A plain run."""
    with torch.no_grad():
        return model(**inputs)


def peers(folder: str, model: Any, eager: Any) -> dict[str, Way]:
    """TransformerLens: q, k and pattern of every layer. nnsight: q and k at the attention function."""
    made: dict[str, Way] = {}
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    llama = hasattr(model, "lm_head")
    if importlib.util.find_spec("transformer_lens"):
        from transformer_lens.model_bridge import TransformerBridge

        whole = eager
        if not llama:
            whole = transformers.BertForMaskedLM(eager.config)
            whole.bert = eager
            whole.train(False)
        bridge = TransformerBridge.boot_transformers(folder, hf_model=whole, tokenizer=tokenizer, device="cpu")
        names = ("hook_q", "hook_k", "hook_pattern")

        def lens(inputs: dict[str, Any]) -> Any:
            with torch.no_grad():
                return bridge.run_with_cache(inputs["input_ids"], names_filter=lambda name: name.endswith(names))

        made["TransformerLens q, k, pattern"] = lens
    if importlib.util.find_spec("nnsight"):
        import nnsight
        from nnsight import TransformersModel

        watched = TransformersModel(model, tokenizer=tokenizer, **({} if llama else {"task": "feature-extraction"}))

        def sight(inputs: dict[str, Any]) -> Any:
            with torch.no_grad(), watched.trace(inputs["input_ids"]):
                found = nnsight.save([])
                for layer in watched.model.layers if llama else watched.encoder.layer:
                    attention = layer.self_attn if llama else layer.attention.self
                    given = attention.source.attention_interface_1.inputs
                    found.append((given[0][1], given[0][2], given[0][3]))
            return found

        made["nnsight q, k, v"] = sight
    return made


# afterwards ---------------------------------------------------------------------------------------


def lazy(given: Any, model: Any, n: int) -> None:
    """A row of all heads, a whole head, the head table, from a record; and how near weights are to eager ones."""
    inputs = inputs_of(model, n)
    reading = captured(model, inputs)
    clock = CLOCKS[given.clock]
    floor = timed(lambda: forward(model, inputs), given.rounds, clock)
    work: dict[str, Callable[[], Any]] = {
        "one row of every head": lambda: [trace.rows("weights", queries=[n - 1]) for trace in reading],
        "one whole head": lambda: reading[len(reading) // 2].rows("weights", heads=[0]),
        "head table": lambda: summaries(reading),
        "head table, top 5": lambda: summaries(reading, top=5),
    }
    print(json.dumps({"n": n, "what": "floor", "median_ms": round(1000 * floor, 1)}), flush=True)
    for name, task in work.items():
        taken = timed(task, given.rounds, clock)
        ratio = round(taken / floor, 3)
        print(json.dumps({"n": n, "what": name, "median_ms": round(1000 * taken, 2), "of floor": ratio}), flush=True)
    if n <= given.most_eager:
        theirs = forward(load(given.model, "eager"), inputs | {"output_attentions": True}).attentions
        off = max(
            float(np.abs(trace.rows("weights", heads=[head])[0] - theirs[at][0, head].numpy()).max())
            for at, trace in enumerate(reading)
            for head in range(trace.n_heads)
        )
        print(json.dumps({"n": n, "what": "largest difference from eager weights", "value": off}), flush=True)


def long(given: Any, model: Any, n: int) -> None:
    """One capture at a length where no n × n table fits: peak memory of the process."""
    clock = CLOCKS[given.clock]
    start = clock()
    reading = captured(model, inputs_of(model, n))
    taken = clock() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        json.dumps(
            {"n": n, "seconds": round(taken, 1), "kept_mb": round(held_bytes(reading) / 1e6), "peak_gb": round(peak, 2)}
        )
    )


def timed(task: Callable[[], Any], rounds: int, clock: Callable[[], float]) -> float:
    """Median seconds; the first does not count."""
    times = []
    for _ in range(rounds + 1):
        start = clock()
        task()
        times.append(clock() - start)
    return statistics.median(times[1:])


if __name__ == "__main__":
    main()
