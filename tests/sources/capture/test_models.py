"""Models from folders: what is loaded, and what is refused, each with its message; nothing is fetched, no code is run."""

from __future__ import annotations

import json
import re
import sys

import pytest
import torch
import transformers as hf

import jumok
from jumok.errors import InputError
from jumok.sources.capture.models import load_model, name_of, tokenizer_of
from small_tokenizers import of_transformers, word_pieces

MARKS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


@pytest.fixture(autouse=True)
def _quiet():
    hf.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()


@pytest.fixture
def folder(tmp_path):
    """A tiny encoder with its tokenizer, as transformers saves it."""
    torch.manual_seed(0)
    model = hf.BertForMaskedLM(
        hf.BertConfig(vocab_size=15, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
    )
    path = tmp_path / "작은 모델"
    model.save_pretrained(path)
    of_transformers(word_pieces(), **MARKS).save_pretrained(path)
    return path


def configured(folder, **changes):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_a_folder_is_a_model_with_its_tokenizer(folder):
    model, tokenizer, notes = load_model(folder)
    assert notes == ()
    assert type(model).__name__ == "BertForMaskedLM"
    assert not model.training
    assert tokenizer("the cat")["input_ids"] == [2, 4, 5, 3]
    reading = jumok.capture(folder, "the cat")
    assert reading.source.name == "작은 모델"
    assert [token.text for token in reading.tokens] == ["[CLS]", "the", "cat", "[SEP]"]
    assert reading.cut(0, 0, "cat", "the").kind == "word"


@pytest.mark.parametrize(
    ("dtype", "kind"), [(None, torch.float32), ("float16", torch.float16), ("bfloat16", torch.bfloat16)]
)
def test_weights_in_a_form(folder, dtype, kind):
    assert next(load_model(folder, dtype)[0].parameters()).dtype == kind


def test_a_model_without_a_tokenizer(folder):
    for file in folder.glob("tokenizer*"):
        file.unlink()
    assert tokenizer_of(folder) is None


def test_what_a_model_is_called(folder):
    assert name_of(folder) == "작은 모델"
    assert name_of("someone/model") == "someone/model"
    assert name_of("demo").endswith("(demo)")


# refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["./nowhere", "nobody/nothing", "x y", "/"])
def test_what_is_not_there_is_refused(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as told:
        load_model(name)
    assert re.search(r"there is no folder|no readable config\.json", told.value.en)
    assert "폴더" in told.value.ko or "config.json" in told.value.ko


def test_a_folder_without_a_config_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no readable config\.json"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text("{ no")
    with pytest.raises(InputError, match=r"holds no readable config\.json \(Expecting property name.*line 1"):
        load_model(tmp_path)


def test_pickled_weights_are_loaded_only_when_asked_for(folder):
    model = load_model(folder)[0]
    next(folder.glob("*.safetensors")).unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="only there as a pickle") as told:
        load_model(folder)
    assert "--allow-pickle" in told.value.en
    assert "pickle로만" in told.value.ko
    again = load_model(folder, allow_pickle=True)[0]
    assert torch.equal(next(again.parameters()), next(model.parameters()))


def test_a_folder_without_weights_is_refused(folder):
    next(folder.glob("*.safetensors")).unlink()
    with pytest.raises(InputError, match=r"no weights \(\*\.safetensors\)"):
        load_model(folder)


def test_code_of_a_models_own_is_never_run(folder):
    ran = folder / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')")
    configured(
        folder, architectures=["OwnModel"], auto_map={"AutoModel": "own.OwnModel", "AutoConfig": "own.OwnConfig"}
    )
    with pytest.raises(InputError, match=r"its own code \(OwnModel\), which jumok never runs") as told:
        load_model(folder)
    assert "실행하지 않습니다" in told.value.ko
    assert not ran.exists()


def test_code_beside_a_known_model_is_not_run_either(folder):
    ran = folder / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')")
    configured(folder, auto_map={"AutoModel": "own.OwnModel"})
    load_model(folder)
    assert not ran.exists()


def test_a_model_that_breaks_is_told(folder):
    next(folder.glob("*.safetensors")).write_bytes(b"no")
    with pytest.raises(InputError, match=r"the weights .* are cut off or damaged") as told:
        load_model(folder)
    assert "손상되었습니다" in told.value.ko
    assert "\n" not in told.value.en


@pytest.mark.parametrize("name", ["", 5, None, len])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(InputError, match="model expects a PyTorch module, the folder of a model") as told:
        load_model(name)
    assert "PyTorch 모듈" in told.value.ko


@pytest.mark.parametrize("pictures", [False, True])
def test_a_text_for_a_model_without_a_tokenizer_is_refused(tmp_path, pictures):
    config = hf.ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, image_size=8, patch_size=4
    )
    other = hf.GPT2Config(vocab_size=15, n_embd=8, n_layer=1, n_head=2)
    (hf.ViTModel(config) if pictures else hf.GPT2Model(other)).save_pretrained(tmp_path / "m")
    with pytest.raises(InputError, match=r"m has no tokenizer .*cannot read a text") as told:
        jumok.capture(tmp_path / "m", "the cat")
    assert ("a model of pictures" in told.value.en) == ("pixel_values" in told.value.ko) == pictures


@pytest.mark.parametrize(
    ("error", "package"),
    [
        (RuntimeError("operator torchvision::nms does not exist"), "torchvision"),
        (ModuleNotFoundError("No module named 'PIL'", name="PIL"), "PIL"),
        (ImportError("cannot import name 'x' from 'tokenizers'", name="tokenizers"), "tokenizers"),
    ],
)
def test_a_package_that_breaks_transformers_is_named(folder, monkeypatch, error, package):
    def broken(*_):
        try:
            raise error
        except Exception as under:
            raise ModuleNotFoundError("Could not import module 'BertForMaskedLM'.") from under

    now = sys.modules["transformers"]
    for name in ("BertForMaskedLM", "AutoModel", "AutoTokenizer"):
        monkeypatch.delitem(vars(now), name, raising=False)
    monkeypatch.setattr(type(now), "__getattr__", broken)
    with pytest.raises(InputError, match=rf"the package {package} does not work \(.*pip uninstall {package}") as told:
        load_model(folder)
    assert f"{package} 패키지가 동작하지 않습니다" in told.value.ko


def test_a_kind_of_model_that_nobody_knows_is_told(folder):
    configured(folder, model_type="nobody", architectures=["NobodyModel"])
    with pytest.raises(InputError, match="this model cannot be loaded"):
        load_model(folder)
