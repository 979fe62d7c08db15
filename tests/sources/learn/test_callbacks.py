"""Recordings as callbacks of transformers' and of Lightning's training loops, on real runs of tiny models."""

import subprocess
import sys

import numpy as np
import pytest
import torch
import transformers
from torch import nn

import jumok


class Rows(torch.utils.data.Dataset):
    """Sequences that repeat one symbol."""

    def __len__(self):
        return 12

    def __getitem__(self, at):
        ids = torch.full((5,), at % 7)
        return {"input_ids": ids, "labels": ids}


def bert():
    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, vocab_size=10
    )
    return transformers.BertForMaskedLM(config)


def trainer(model, folder, callbacks, **options):
    settings = {"max_steps": 6, "per_device_train_batch_size": 4, "logging_steps": 1, "report_to": [], "use_cpu": True}
    settings |= {"save_strategy": "no", "disable_tqdm": True, "output_dir": str(folder)} | options
    arguments = transformers.TrainingArguments(**settings)
    return transformers.Trainer(model=model, args=arguments, train_dataset=Rows(), callbacks=callbacks)


def test_a_run_of_transformers_trainer_is_recorded(tmp_path):
    model = bert()
    recorded = jumok.record(model, {"input_ids": torch.tensor([[1, 2, 3]])}, tokens=["a", "b", "c"])
    made = trainer(model, tmp_path, [recorded.trainer_callback()])
    made.train()
    history = recorded.history
    assert history.steps == (0, 1, 2, 3, 4, 5, 6)
    logged = {entry["step"]: entry["loss"] for entry in made.state.log_history if "loss" in entry}
    np.testing.assert_allclose(history.loss, [logged[step] for step in range(1, 7)])
    np.testing.assert_array_equal(
        history.layers[1].weights["w_q"][-1], model.bert.encoder.layer[1].attention.self.query.weight.detach().T
    )


def test_steps_of_the_trainer_are_optimizer_steps_where_gradients_are_accumulated(tmp_path):
    model = bert()
    recorded = jumok.record(model, torch.tensor([[1, 2, 3]]))
    callback = recorded.trainer_callback()
    trainer(
        model, tmp_path, [callback], gradient_accumulation_steps=3, max_steps=2, per_device_train_batch_size=2
    ).train()
    assert recorded.history.steps == (0, 1, 2)


def test_a_run_that_is_resumed_goes_on_counting(tmp_path):
    first = trainer(bert(), tmp_path, [], max_steps=3, save_strategy="steps", save_steps=3)
    first.train()
    model = bert()
    recorded = jumok.record(model, torch.tensor([[1, 2, 3]]))
    made = trainer(model, tmp_path, [recorded.trainer_callback()], max_steps=5)
    made.train(resume_from_checkpoint=str(tmp_path / "checkpoint-3"))
    assert recorded.history.steps == (3, 4, 5)
    assert np.isnan(recorded.history.loss[:3]).all()
    assert np.isfinite(recorded.history.loss[3:]).all()


def lightning_module():
    import pytorch_lightning as lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
            self.losses = []

        def forward(self, x):
            return self.layer(x)

        def training_step(self, batch, index):
            if getattr(self, "fails", False) and index == 2:
                raise ZeroDivisionError
            loss = self(batch).square().mean() * (index + 1)
            self.losses.append(float(loss.detach()))
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

        def train_dataloader(self):
            return torch.utils.data.DataLoader(torch.ones(8, 3, 4), batch_size=2)

    torch.manual_seed(0)
    return Module()


def lightning_trainer(folder, callbacks, **options):
    import pytorch_lightning as lightning

    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    settings = {"max_epochs": 1, "accelerator": "cpu", "default_root_dir": str(folder), "callbacks": callbacks}
    return lightning.Trainer(**quiet, **settings, **options)


@pytest.mark.filterwarnings("ignore:The 'train_dataloader' does not have many workers")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
class TestLightning:
    def test_a_run_is_recorded(self, tmp_path):
        model = lightning_module()
        recorded = jumok.record(model, torch.ones(1, 3, 4))
        lightning_trainer(tmp_path, [recorded.lightning_callback()]).fit(model)
        assert recorded.history.steps == (0, 1, 2, 3, 4)
        np.testing.assert_allclose(recorded.history.loss, model.losses, rtol=1e-6)

    def test_accumulated_batches_are_one_step_with_the_mean_of_their_losses(self, tmp_path):
        model = lightning_module()
        recorded = jumok.record(model, torch.ones(1, 3, 4))
        lightning_trainer(tmp_path, [recorded.lightning_callback()], accumulate_grad_batches=2).fit(model)
        assert recorded.history.steps == (0, 1, 2)
        assert np.isfinite(recorded.history.loss).all()

    def test_an_error_keeps_what_was_recorded(self, tmp_path):
        model = lightning_module()
        model.fails = True
        recorded = jumok.record(model, torch.ones(1, 3, 4), out=tmp_path / "a.safetensors")
        with pytest.raises(ZeroDivisionError):
            lightning_trainer(tmp_path, [recorded.lightning_callback()]).fit(model)
        assert jumok.load(tmp_path / "a.safetensors").steps == (0, 1, 2)


def test_nothing_of_the_other_loops_is_imported_before_it_is_asked_for():
    code = (
        "import sys, torch, jumok\n"
        "with jumok.record(torch.nn.MultiheadAttention(4, 2), (torch.ones(2, 1, 4),) * 3) as recorded: recorded.step()\n"
        "print(sorted({'transformers', 'pytorch_lightning', 'lightning'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
