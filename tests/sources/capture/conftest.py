"""What tests of capture share."""

import pytest
import torch


@pytest.fixture
def one_thread():
    """The same numbers in every run, and no threads that wait for each other on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)
