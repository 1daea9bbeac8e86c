"""The roof over the ladder: for each step the time that each limit of the GPU alone would allow.

The counters are those of one size; those of the first pass are taken to grow with n, as one counts them by hand. Later
passes have less than a hundredth of the elements, from step 07 on the same few at any n: their counters stay as they are."""

import csv
from pathlib import Path

PROFILED, ELEMENTS = 2**24, 2**28  # n of profile.csv, and the n in question
SCHEDULERS = 4    # of an SM: each issues one warp instruction a cycle
# Bytes that a thread asks for before it has to wait, from the source. Step 12: its share of two tiles. CUB: 16 elements.
BYTES_IN_FLIGHT = {"step01": 4, "step02": 4, "step03": 4, "step04": 8, "step05": 8, "step06": 8, "step07": 4,
                   "step08": 4, "step09": 16, "step10": 64, "step11": 64, "step12": 128, "reference": 64}
LIMITS = {  # name in the table, and what it is
    "issue": "issue slots",
    "shared": "shared memory",
    "dram": "DRAM bytes",
    "flight": "bytes in flight",
    "launch": "launches",
}


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def growth(directory, steps):
    """By step and cache: GB/s at which the time grows from 2^28 to 2^30 elements, and the microseconds that do not grow."""
    us = {(row["step"], row["cache"], int(row["elements"])): 1e3 * float(row["median_ms"])
          for row in read(Path(directory) / "sweep.csv") if row["status"] == "PASS"}
    for step in steps:
        for cache in ("cold", "warm"):
            fixed = (4 * us[step, cache, ELEMENTS] - us[step, cache, 4 * ELEMENTS]) / 3
            yield step, cache, ELEMENTS * 4 / (us[step, cache, ELEMENTS] - fixed) / 1e3, fixed


def of_pass(row, gpu):
    """Microseconds that a pass needs at least, for each limit."""
    sms, per_us = int(gpu["sm_count"]), float(gpu["clock_mhz"])  # cycles a microsecond
    threads = min(float(row["blocks"]) * float(row["threads"]),
                  float(row["occupancy_percent"]) / 100 * int(gpu["threads_per_sm"]) * sms)
    in_flight = threads * BYTES_IN_FLIGHT[row["step"].partition("_")[0]]
    read_bytes = float(row["dram_read_bytes"])
    return {
        "issue": float(row["warp_instructions"]) / (sms * SCHEDULERS * per_us),
        "shared": float(row["shared_wavefronts"]) / (sms * per_us),
        "dram": float(row["dram_read_bytes"]) / (float(gpu["peak_gb_per_s"]) * 1e3),
        "flight": read_bytes / in_flight * float(gpu["load_ns"]) / 1e3,
    }


def roof(directory):
    """A row for each step: microseconds by limit, measured_us (cold, whole reduction), and held_by."""
    gpu = read(Path(directory) / "limits.csv")[0]
    measured = {row["step"]: row for row in read(Path(directory) / "sweep.csv")
                if row["elements"] == str(ELEMENTS) and row["cache"] == "cold" and row["status"] == "PASS"}
    passes = {}
    for row in read(Path(directory) / "profile.csv"):
        if row["step"] in measured and row["elements"] == str(PROFILED):
            grown = ELEMENTS / PROFILED if row["pass"] == "1" else 1
            passes.setdefault(row["step"], []).append({limit: us * grown for limit, us in of_pass(row, gpu).items()})
    rows = []
    for step, limits in passes.items():
        row = {limit: sum(one[limit] for one in limits) for limit in limits[0]}
        launches = max(len(limits), int(measured[step]["launches"]))  # CUB's one call starts two kernels
        row["launch"] = float(gpu["first_launch_us"]) + (launches - 1) * float(gpu["next_launch_us"])
        row["held_by"] = max(LIMITS, key=row.get)
        rows.append(row | {"step": step, "measured_us": 1e3 * float(measured[step]["median_ms"])})
    return rows
