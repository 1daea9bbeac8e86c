from drywarp.learn.exercise import Count, given, result, sixteenths


def data(n):
    values = sixteenths(128)
    return {"in": given(values), "out": result([values[3 * lane] + values[4 * lane] for lane in range(32)])}


EXERCISE = dict(
    chapter="3. Idle lanes and bank conflicts", title="Stride three, stride four", kind="predict",
    task="A warp reads words with stride 3, then with stride 4. Count its accesses and conflicts by hand. Write your numbers; the simulator checks them.",
    hints=("The loop has 4 rounds, and its stores are consecutive. Then each thread reads two words.",
           "Word k is in bank k % 32. Which banks are 0, 3, 6, ... up to 93? And 0, 4, 8, ... up to 124?",
           "Stride 3 uses each bank once. Stride 4 uses 8 banks, each 4 times, so it takes 4 wavefronts: 3 conflicts."),
    why="4 stores and 2 loads, one of which takes 3 extra wavefronts. An even stride uses only some of the banks; an odd stride uses all 32.",
    lesson="labs/bankconflicts/README.md",
    kernel="pick", data=data, block=32, grid=lambda n: 1, sizes=(32,), random_sizes=(32, 32, 1),
    questions=(Count("shared stores", "shared_stores"), Count("shared loads", "shared_loads"), Count("bank conflicts", "bank_conflicts")),
    wrong=(("shared stores", (1, 32, 128, 8)), ("shared loads", (1, 32, 64)), ("bank conflicts", (0, 4, 5, 7, 24, 31))),
)
