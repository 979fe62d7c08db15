"""Two Korean sentences with the same 밤: the same numbers go in, the neighbours decide what comes out.

같은 말 '밤'이 든 두 문장입니다. 들어가는 숫자는 같은데, 곁에 있는 말이 무엇이 나올지를 정합니다.

    python gallery/korean_pair.py [en|ko]
"""

import sys

import numpy as np

import jumok

MEANINGS = ["때", "먹을것", "가리키는 말"]  # time, food, a word that asks its neighbours
WORDS = {
    "밤": [0.5, 0.5, 1],
    "별을": [2, 0, 0],
    "밤새": [2, 0, 0],
    "보았다": [0.3, 0, 0],
    "구운": [0, 2, 0],
    "먹었다": [0, 1, 0],
}
PAIR = ("밤 별을 밤새 보았다", "구운 밤 먹었다")


def attended(sentence):
    """One head with the same W for both: who asks (third dimension) looks for time and for food alike."""
    tokens = sentence.split()
    x = np.array([WORDS[token] for token in tokens], dtype=float)
    w_q = np.array([[0, 0, 0], [0, 0, 0], [1.5, 1.5, 0]])
    return jumok.attend(x=x, w_q=w_q, w_k=np.eye(3), w_v=np.diag([1, 1, 0]), tokens=tokens)


def look(lang="en"):
    """What is seen, in words, and the picture of it."""
    stars, chestnut = map(attended, PAIR)
    night, food = stars.output[PAIR[0].split().index("밤")], chestnut.output[PAIR[1].split().index("밤")]
    told = {
        "en": f"The same 밤 goes in. Beside 별을 it comes out as (time {night[0]:.2f}, food {night[1]:.2f}): "
        f"night. Beside 구운 as (time {food[0]:.2f}, food {food[1]:.2f}): chestnut.",
        "ko": f"같은 '밤'이 들어갑니다. '별을' 곁에서는 (때 {night[0]:.2f}, 먹을것 {night[1]:.2f})로 나오니 "
        f"어두운 밤이고, '구운' 곁에서는 (때 {food[0]:.2f}, 먹을것 {food[1]:.2f})로 나오니 먹는 밤입니다.",
    }
    return told[lang], jumok.draw(jumok.compare(stars, chestnut), lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:2])
    print(said)
    print(picture.save("korean_pair.html"))
