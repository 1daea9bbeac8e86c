import random

from drywarp.learn.exercise import given, result, whole


def data(n):
    counts = [whole(16, 1, 9) for _ in range(n + 1)]
    before = [[sum(row[digit] for row in counts[:tile]) for digit in range(16)] for tile in range(n + 2)]
    words, share = [], random.choice((0, 0.3))  # of the words that are prefixes; if it is 0, only those of tile 0 are
    for tile in range(n + 1):  # the last one is the block's own tile, of which it knows nothing yet
        for digit in range(16):
            prefix = tile == 0 or random.random() < share
            words.append(2 * (before[tile + 1] if prefix else counts[tile])[digit] + prefix)
    return {"status": given([int(word) for word in words]), "start": result(before[n]), "tile": n}


EXERCISE = dict(
    chapter="12. Sorting", title="A look-back for each digit", kind="write",
    task="Add up the counts of your digit in the tiles before, and stop at the nearest prefix.",
    hints=("Thread d looks only at the words of digit d. They are 16 words apart.",
           "A prefix counts, too: it is the sum of its own tile and of all earlier ones. After it there is nothing left to add.",
           "bool prefix = false;  while (tile > 0 && !prefix) { tile--; int word = status[16 * tile + digit]; sum += word / 2; prefix = word % 2 == 1; }"),
    why="Each digit may find its prefix in another tile. In a real look-back a word may also be unknown yet; then the thread polls it. Neighbouring digits are neighbouring words, so a warp reads them with one request.",
    lesson="labs/sort/step13_lookback_digits/README.md",
    kernel="look_back", data=data, block=16, grid=lambda n: 1, sizes=(0, 1, 2, 7, 40), random_sizes=(1, 100, 1),
    wrong=(
        ("tile > 0 && !prefix", "tile > 0"),
        ("tile > 0 && !prefix", "tile > 1 && !prefix"),
        ("        tile--;\n        int word = status[16 * tile + digit];", "        int word = status[16 * tile + digit];\n        tile--;"),
        ("16 * tile + digit", "16 * digit + tile"),
        ("16 * tile + digit", "16 * tile"),
        ("sum += word / 2;", "sum += word;"),
        ("sum += word / 2;", "sum = word / 2;"),
        ("sum += word / 2;\n        prefix = word % 2 == 1;", "prefix = word % 2 == 1;\n        if (!prefix)\n            sum += word / 2;"),
        ("word % 2 == 1", "word % 2 == 0"),
        ("sum = 0;", "sum = 1;"),
        ("prefix = word % 2 == 1", "prefix = true"),
    ),
)
