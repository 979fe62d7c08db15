"""Watching: by functions where a model has them, else by operations; whatever happens, nothing stays behind."""

from __future__ import annotations

import pytest
import torch
import transformers as hf

from jumok.sources.capture.growing import Calls
from jumok.sources.capture.interface import Interface
from jumok.sources.capture.watch import Watch
from jumok.sources.capture.watching import watching


def bert():
    return hf.BertModel(
        hf.BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    ).eval()


@pytest.mark.parametrize(
    ("model", "kind"), [(bert, Interface), (lambda: None, Watch), (lambda: torch.nn.Linear(2, 2), Watch)]
)
def test_the_way_fits_the_model(model, kind):
    with watching(model(), Calls()) as one:
        assert isinstance(one, kind)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("breaks", [True, False])
def test_the_fast_path_is_off_meanwhile_and_as_it_was_afterwards(fast, breaks):
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(fast)
    try:
        with pytest.raises(KeyError) if breaks else watching(None, Calls()), watching(None, Calls()):
            assert not torch.backends.mha.get_fastpath_enabled()
            if breaks:
                raise KeyError
        assert torch.backends.mha.get_fastpath_enabled() == fast
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def test_a_watcher_that_cannot_begin_leaves_nothing_behind():
    class Broken(Watch):
        def __enter__(self):
            raise RuntimeError("cannot")

    before = torch.backends.mha.get_fastpath_enabled()
    with pytest.raises(RuntimeError, match="cannot"), watching(None, Calls(), watch=Broken):
        pass
    assert torch.backends.mha.get_fastpath_enabled() == before
    assert not torch.nn.modules.module._global_forward_pre_hooks
