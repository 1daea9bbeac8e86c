from scripts.learn.exercise import Count, given, result, sixteenths


def data(n):
    values = sixteenths(128)
    return {"in": given(values), "out": result([values[3 * lane] + values[4 * lane] for lane in range(32)])}


EXERCISE = dict(
    chapter="3. Fewer turns", title="Three apart, four apart", kind="predict",
    task="Count by hand what a warp does that reads words 3 apart and words 4 apart, write your numbers into the file, and save.",
    hints=("The loop has 4 rounds, and its stores lie side by side. Then each thread reads two words.",
           "Word k lies in bank k % 32. Which banks are 0, 3, 6, ... up to 93? And 0, 4, 8, ... up to 124?",
           "3 apart meets each bank once; 4 apart meets 8 banks, each 4 times, so it takes 4 turns: 3 conflicts."),
    why="4 stores and 2 loads, of which one takes 3 turns more: a distance that shares a factor with 32 meets some banks often and others never, an odd one all 32.",
    lesson="labs/bankconflicts/README.md",
    kernel="pick", data=data, block=32, grid=lambda n: 1, sizes=(32,), drawn=(32, 32, 1),
    questions=(Count("shared stores", "shared_stores"), Count("shared loads", "shared_loads"), Count("bank conflicts", "bank_conflicts")),
    wrong=(("shared stores", (1, 32, 128, 8)), ("shared loads", (1, 32, 64)), ("bank conflicts", (0, 4, 5, 7, 24, 31))),
)
