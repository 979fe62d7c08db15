"""On Ray: the local run's bytes, also when a worker's process is killed in the middle, and its errors as they are here.

In a process of its own: Ray leaves files and processes open at its end, which are warnings here.
"""

import json
import subprocess
import sys

import pytest

import jumok
from small_folders import encoder, folder_of, sentences

TABLES = ("heads.parquet", "examples.parquet")
SMALL = {"shard_tokens": 200, "batch_tokens": 200}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return folder_of(encoder(), tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n".join(sentences(150)))
    return path


@pytest.fixture(scope="module")
def local(model, corpus, tmp_path_factory):
    made = jumok.measure(model, corpus, folder=tmp_path_factory.mktemp("local") / "run", workers=1, **SMALL)
    return [(made.folder / name).read_bytes() for name in TABLES]


ON_RAY = """
import json, os, signal, sys
from pathlib import Path
import jumok
from jumok.errors import InputError
from jumok.measurement.running import engines

def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

def actors():  # what measures: children of the raylet, which is our child
    for place in Path("/proc").glob("[0-9]*"):
        try:
            is_actor = (place / "cmdline").read_bytes().startswith(b"ray::RayWorker")
            if is_actor and parent(parent(place.name)) == os.getpid():
                yield int(place.name)
        except OSError:
            continue

def kill_one(done, *_):
    if not killed and done > 600:
        killed.extend(list(actors())[:1])
        os.kill(killed[0], signal.SIGKILL)

class Refuses:
    def __call__(self):
        raise InputError(en="not this one", ko="이것은 안 됩니다")

killed = []
model, corpus, folder = sys.argv[1:]
ray = engines._ray()
for left in (2, 1, 0):  # a raylet gives its own helpers 15 s to start, which a busy machine does not always keep
    try:
        engines._joined(ray, n_cpus=2)
        break
    except InputError:
        ray.shutdown()
        if not left:
            raise
made = jumok.measure(model, corpus, folder=folder, engine="ray", workers=2, progress=kill_one, shard_tokens=200, batch_tokens=200)
is_left = ray.is_initialized()  # it is not ours, so it stays
job = engines.Job(Refuses(), None, 1)
try:
    list(engines._on_ray(job, iter([engines.Part(0, 0, (), ())]), 1))
    said = ""
except InputError as error:
    said = error.ko
ray.shutdown()
Path(folder, "said.json").write_text(json.dumps([len(killed), len(made.plan["shards"]), is_left, said]))
"""


def test_two_workers_give_the_local_bytes_also_when_one_is_killed(model, corpus, local, tmp_path):
    folder = tmp_path / "run"
    command = [sys.executable, "-c", ON_RAY, *map(str, (model, corpus, folder))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    n_killed, n_shards, is_left, said = json.loads((folder / "said.json").read_text())
    assert n_killed == 1
    assert n_shards > 8
    assert is_left
    assert said == "이것은 안 됩니다"  # what a worker refuses is told as it is here
    assert [(folder / name).read_bytes() for name in TABLES] == local
