"""Vision transformers of timm: fused and written attention, class tokens, windows."""

from __future__ import annotations

import pytest
import torch

from programs import agree, agree_in_any_order, captured, fused_by_hand, sharpened, traces
from timm_alone import timm as timm

SIZES = {"img_size": 16, "patch_size": 4, "embed_dim": 24, "depth": 2, "num_heads": 3, "num_classes": 5}


pytestmark = pytest.mark.usefixtures("one_thread")


def switch(blocks, fused):
    """Let the blocks use the fused function, or write attention out."""
    for block in blocks:
        block.attn.fused_attn = fused


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    "more", [{}, {"qk_norm": True, "class_token": False, "global_pool": "avg"}], ids=["cls", "norm"]
)
def test_a_vision_transformer(timm, fused, more, monkeypatch):
    from timm.models.vision_transformer import VisionTransformer

    model = sharpened(VisionTransformer(**SIZES, **more))
    images = torch.randn(2, 3, 16, 16)
    with fused_by_hand(monkeypatch) as own:
        reading = captured(lambda: model(images))
    if not fused:
        switch(model.blocks, False)
        reading = captured(lambda: model(images))
    assert [len(one) for one in reading.readings] == [2, 2]
    assert {trace.source.details["way"] for trace in traces(reading)} == {"fused" if fused else "written"}
    for item, one in enumerate(reading.readings):
        for trace, weights in zip(one, own, strict=True):
            agree(trace, weights[item])
            assert trace.n_tokens == 16 + (not more)


@pytest.mark.parametrize("fused", [True, False])
def test_windows_that_shift(timm, fused, monkeypatch):
    from timm.models.swin_transformer import SwinTransformer

    model = sharpened(
        SwinTransformer(
            img_size=16, patch_size=2, embed_dim=12, depths=(2,), num_heads=(3,), window_size=4, num_classes=5
        )
    )
    images = torch.randn(1, 3, 16, 16)
    with fused_by_hand(monkeypatch) as own:
        switch(model.layers[0].blocks, True)
        reading = captured(lambda: model(images))
    if not fused:
        switch(model.layers[0].blocks, False)
        reading = captured(lambda: model(images))
    assert {len(trace.tokens) for trace in traces(reading)} == {16}
    agree_in_any_order(traces(reading), [window for weights in own for window in weights])
