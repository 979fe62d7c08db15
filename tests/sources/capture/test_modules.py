"""Names of the modules that run, from hooks that go away."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn
from torch.nn.modules import module as hooks

from jumok.sources.capture.modules import Modules


class Says(nn.Module):
    """Asks for its own name while it runs."""

    def __init__(self, modules, said):
        super().__init__()
        self.told = (modules, said)

    def forward(self, x):
        modules, said = self.told
        said.append((modules.passes, modules.name))
        return x


def test_the_innermost_running_module_has_its_name_and_the_number_of_the_run():
    modules, said = Modules(), []
    model = nn.Sequential(Says(modules, said), nn.Sequential(nn.Identity(), Says(modules, said)))
    with modules:
        assert modules.name == ""
        model(torch.ones(1))
        assert modules.name == ""
        model(torch.ones(1))
    assert said == [(1, "0"), (1, "1.1"), (2, "0"), (2, "1.1")]


def test_a_module_that_was_never_seen_from_outside_has_its_class():
    modules, said = Modules(), []

    class Makes(nn.Module):
        def forward(self, x):
            return Says(modules, said)(x)

    with modules:
        Makes()(torch.ones(1))
    assert said == [(1, "Says")]


def test_the_hooks_are_gone_afterwards():
    before = dict(hooks._global_forward_hooks), dict(hooks._global_forward_pre_hooks)
    with Modules():
        assert len(hooks._global_forward_hooks) == len(before[0]) + 1
    assert (dict(hooks._global_forward_hooks), dict(hooks._global_forward_pre_hooks)) == before


def test_another_threads_modules_are_not_mine():
    modules, said = Modules(), []
    model = nn.Sequential(Says(modules, said))
    with modules:
        thread = threading.Thread(target=model, args=(torch.ones(1),))
        thread.start()
        thread.join()
    assert said == [(0, "")]


def test_parameters_and_views_of_them_are_known():
    model, modules = nn.Linear(3, 3), Modules()
    with modules:
        model(torch.ones(1, 3))
    assert modules.is_parameter(model.weight)
    assert modules.is_parameter(model.weight.T[:2])
    assert not modules.is_parameter(torch.ones(3, 3))


def test_a_module_that_raises_is_left_all_the_same():
    modules, said = Modules(), []

    class Breaks(nn.Module):
        def forward(self, x):
            raise ValueError("mine")

    model = nn.Sequential(Says(modules, said), nn.Sequential(Breaks()))
    with modules:
        for _ in range(2):
            with pytest.raises(ValueError, match="mine"):
                model(torch.ones(1))
            assert modules.name == ""
    assert said == [(1, "0"), (2, "0")]
