"""A vision transformer of timm: the class token asks sixteen patches, and takes the picture together.

timm의 비전 트랜스포머입니다. 분류 토큰이 조각 열여섯 개에 물어서 그림을 하나로 모읍니다.

    python gallery/timm_vit.py [en|ko]
"""

import sys

try:
    import timm
except ModuleNotFoundError:
    sys.exit("This needs timm. Try: pip install timm\ntimm이 필요합니다. 설치: pip install timm")
import torch

import jumok

SIDE = 4  # patches in a row


def picture_of_a_bar():
    """A bright bar on the left of a dark picture, (1, 3, 32, 32)."""
    image = torch.zeros(1, 3, 32, 32)
    image[..., :8] = 2.0
    return image


def look(lang="en"):
    """What is seen, in words, and the picture of it."""
    torch.manual_seed(0)
    sizes = {"img_size": 32, "patch_size": 8, "embed_dim": 48, "depth": 2, "num_heads": 3, "num_classes": 4}
    model = timm.models.VisionTransformer(**sizes).eval()
    with torch.no_grad():
        for block in model.blocks:
            block.attn.qkv.weight.normal_(std=0.3)  # untrained heads are even; these have something to show
    with torch.no_grad(), jumok.capture() as reading:
        model(picture_of_a_bar())
    row = (
        reading[0].rows("weights", queries=[0], heads=[0])[0, 0, 1:].reshape(SIDE, SIDE)
    )  # the class token's, patch by patch
    left, rest = row[:, 0].sum(), row[:, 1:].sum()
    told = {
        "en": f"{len(reading)} layers, 1 + {SIDE * SIDE} tokens. The class token of layer 0, head 0 gives each "
        f"patch of the bar {left / SIDE:.3f} and each other {rest / (SIDE * 3):.3f}.",
        "ko": f"층 {len(reading)}개, 토큰 1 + {SIDE * SIDE}개입니다. 0층 0번 헤드에서 분류 토큰이 주는 가중치는 "
        f"막대가 있는 조각 하나에 {left / SIDE:.3f}, 나머지 조각 하나에 {rest / (SIDE * 3):.3f}입니다.",
    }
    return told[lang], jumok.draw(reading, lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:2])
    print(said)
    print(picture.save("timm_vit.html"))
