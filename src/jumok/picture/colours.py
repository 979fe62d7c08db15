"""Colours of numbers, the same for every eye; the page has the same tables (frontend/src/look/colours.ts).

>>> cividis(0.0), cividis(1.0), puor(0.0)
((0, 34, 78), (254, 232, 56), (247, 247, 246))
"""

from __future__ import annotations

__all__ = ["CIVIDIS", "NOT_ALLOWED", "PUOR", "Rgb", "cividis", "puor"]

Rgb = tuple[int, int, int]

NOT_ALLOWED: Rgb = (128, 128, 128)  # a neutral grey, which is on neither scale


def _steps(digits: str) -> tuple[Rgb, ...]:
    data = bytes.fromhex(digits)
    return tuple((data[at], data[at + 1], data[at + 2]) for at in range(0, len(data), 3))


# Nuñez, Anderton and Renslow 2018, 256 steps: dark is 0, bright is the most.
CIVIDIS = _steps(
    "00224e00234f00245100255300255400265600275800285900285b00295d002a5f002a61002b62002c64002c66002d68002e6a002e6c"
    "002f6d00306f0030700031700031710132710533710833700c34700f357012357014367016377018376f1a386f1c396f1e3a6f203a6f"
    "213b6e233c6e243c6e263d6e273e6e293f6e2a3f6d2b406d2d416d2e416d2f426d31436d32436d33446d34456c35456c36466c38476c"
    "39486c3a486c3b496c3c4a6c3d4a6c3e4b6c3f4c6c404c6c414d6c424e6c434e6c444f6c45506c46516c47516c48526c49536c4a536c"
    "4b546c4c556c4d556c4e566c4f576c50576c51586d52596d535a6d545a6d555b6d555c6d565c6d575d6d585e6d595e6e5a5f6e5b606e"
    "5c616e5d616e5e626e5e636f5f636f60646f61656f62656f636670646770656870656870666970676a71686a71696b716a6c716b6d72"
    "6c6d726c6e726d6f726e6f736f70737071737172747272747273747374757474757575757676767777767777777878777979777a7a78"
    "7b7a787c7b787d7c787e7c787e7d787f7e78807f78817f788280798381798482798582798683798784788885788985788a86788b8778"
    "8c88788d88788e89788f8a78908b78918b78928c78928d78938e78948e77958f779690779791779892779992779a93769b94769c9576"
    "9d95769e96769f9775a09875a19975a29975a39a74a49b74a59c74a69c74a79d73a89e73a99f73aaa073aba072aca172ada272aea371"
    "afa471b0a571b1a570b3a670b4a76fb5a86fb6a96fb7a96eb8aa6eb9ab6dbaac6dbbad6dbcae6cbdae6cbeaf6bbfb06bc0b16ac1b26a"
    "c2b369c3b369c4b468c5b568c6b667c7b767c8b866c9b965cbb965ccba64cdbb63cebc63cfbd62d0be62d1bf61d2c060d3c05fd4c15f"
    "d5c25ed6c35dd7c45cd9c55cdac65bdbc75adcc859ddc858dec958dfca57e0cb56e1cc55e2cd54e4ce53e5cf52e6d051e7d150e8d24f"
    "e9d34eead34cebd44bedd54aeed649efd748f0d846f1d945f2da44f3db42f5dc41f6dd3ff7de3ef8df3cf9e03afbe138fce236fde334"
    "fee434fee535fee636fee838"
)

# PuOr reversed (ColorBrewer), 33 steps: purple is less, white is the same, orange is more.
PUOR = _steps(
    "2d004b390c5e4518715225845f3a916d529c7b6aa88a7eb39990bfa9a1cbb7b1d5c3c0ddcfcfe5dadcece4e5f0eeeef3f7f7f6f9efe1"
    "fce8cdfee1b9fed59ffdc885fdbc6bf7ac52ee9b39e58a20d97b12cb6e0dbd6109ae55069e4c078d43077f3b08"
)


def cividis(place: float) -> Rgb:
    """The colour of a place on the scale, 0 to 1."""
    return CIVIDIS[round(255 * min(1.0, max(0.0, place)))]


def puor(share: float) -> Rgb:
    """The colour of a difference, −1 to 1 of the largest."""
    return PUOR[round(16 + 16 * min(1.0, max(-1.0, share)))]
