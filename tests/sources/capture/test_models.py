"""Models from folders: what is loaded, and what is refused, each with its message; nothing is fetched, no code is run."""

from __future__ import annotations

import json
import re
import sys

import pytest
import torch
import transformers as hf

import jumok
import small_folders
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
    assert re.search(r"there is no folder|holds no config\.json", told.value.en)
    assert "폴더" in told.value.ko or "config.json" in told.value.ko


def test_a_folder_without_a_config_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no config\.json, so it is not the folder of a model"):
        load_model(tmp_path)


ODD = {
    b"[" * 10_000: ("it is nested too deeply", "너무 깊이 중첩되어 있습니다"),
    b'{"a":' * 10_000: ("it is nested too deeply", "너무 깊이 중첩되어 있습니다"),
    b'{"a": ' + b"9" * 6000 + b"}": ("a number in it has too many digits", "자릿수가 너무 많은 수가 있습니다"),
    b"3": ("it holds no JSON object {…}", "JSON 객체 {…}가 아닙니다"),
    b"[]": ("it holds no JSON object {…}", "JSON 객체 {…}가 아닙니다"),
    b"null": ("it holds no JSON object {…}", "JSON 객체 {…}가 아닙니다"),
    b'{"a": "\xff"}': ("it is not UTF-8 text", "UTF-8 글이 아닙니다"),
    b"\xef\xbb\xbf{}": ("it begins with a byte order mark (BOM)", "맨 앞에 바이트 순서 표시(BOM)가 있습니다"),
    b"": ("it is empty", "비어 있습니다"),
    b"{ no": ("it is no JSON from line 1, column 3 on", "1번째 줄 3번째 글자부터 JSON이 아닙니다"),
}


SKIPPED = {
    odd for odd in ODD if odd in (b"", b"{ no") or odd.startswith((b"\xef", b'{"a": "'))
}  # by the library itself


@pytest.mark.parametrize(
    ("name", "odd"),
    [(name, odd) for name in ("config.json", "tokenizer.json", "tokenizer_config.json") for odd in ODD]
    + [("generation_config.json", odd) for odd in ODD if odd not in SKIPPED],
    ids=lambda one: repr(one[:20]),
)
def test_a_damaged_file_of_a_folder_is_named(tmp_path, name, odd):
    folder = small_folders.folder_of(small_folders.generator(), tmp_path / "m")
    (folder / name).write_bytes(odd)
    en, ko = ODD[odd]
    with pytest.raises(InputError) as told:
        jumok.capture(folder, "the cat")
    assert told.value.en == f"{folder / name} cannot be read: {en}. Copy the file again."
    assert told.value.ko == f"{folder / name} 파일을 읽을 수 없습니다: {ko}. 파일을 다시 복사하십시오."


@pytest.mark.parametrize(
    ("name", "field", "value", "en", "ko"),
    [
        (
            "config.json",
            "hidden_size",
            "x",
            r'config\.json: hidden_size has a value .*: "x"\.',
            '"x"는 이 종류의 모델에',
        ),
        ("config.json", "hidden_size", 1e400, "hidden_size has a value .*: Infinity", "쓸 수 없습니다"),
        ("config.json", "architectures", [[]], None, None),
        ("config.json", "architectures", 5, None, None),
        (
            "config.json",
            "head_dim",
            0,
            r"cannot be loaded\. config\.json may not fit it \(transformers: ",
            "config.json이",
        ),
        (
            "tokenizer.json",
            "model",
            5,
            r"the tokenizer cannot be made of its files \(tokenizer\.json",
            "토크나이저를 만들 수",
        ),
    ],
)
def test_an_odd_value_in_a_file_of_a_folder_is_told(tmp_path, name, field, value, en, ko):
    folder = small_folders.folder_of(small_folders.generator(), tmp_path / "m")
    (folder / name).write_text(json.dumps(json.loads((folder / name).read_text()) | {field: value}))
    if en is None:  # of no use to the reading
        jumok.capture(folder, "the cat")
        return
    with pytest.raises(InputError, match=en) as told:
        jumok.capture(folder, "the cat")
    assert ko in told.value.ko
    assert str(folder) in told.value.ko


def test_a_config_of_no_kind_is_told(folder):
    (folder / "config.json").write_text('{"hidden_size": 8}')
    with pytest.raises(InputError, match=r"config\.json does not say what kind") as told:
        load_model(folder)
    assert "종류(model_type)가 없습니다" in told.value.ko


def test_a_broken_tokenizer_does_not_stop_one_of_your_own(folder):
    own = tokenizer_of(folder)
    (folder / "tokenizer.json").write_text("[" * 10_000)
    assert len(jumok.capture(folder, "the cat", own).tokens) == 4
    with pytest.raises(InputError, match=r"tokenizer\.json cannot be read: it is nested"):
        list(jumok.measure(folder, ["the cat", "the"], workers=1).heads)


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
    assert "손상되었습니다(파일이 너무 짧습니다)" in told.value.ko
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
