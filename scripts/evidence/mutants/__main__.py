"""Mutants of the steps, and who finds them.

python3 -m scripts.evidence.mutants COMMAND...

make DIRECTORY [STEP...]                              DIRECTORY/step03.barrier1.cu, ...: a whole program each. Compiled are DIRECTORY/step03-0.cu, ...:
                                                      each holds many mutants; the environment's MUTANT names the one that runs
list [STEP...]                                        their names, places and changes as a CSV on stdout
sim DIRECTORY OUTPUT.csv [STEP...]                    what the program's own check says, and what the simulator finds
gpu [--seconds S] DIRECTORY OUTPUT.csv [STEP...]      the same on a GPU, alone and under each of compute-sanitizer's tools; goes on where OUTPUT.csv
                                                      ends, and begins nothing new after S seconds
table                                                 joins the results: evidence/mutants/agreement.csv. Lists undetected mutants that neither table
                                                      written by hand explains, what is found in the steps as they are, and what compute-sanitizer finds and the
                                                      simulator does not; the exit status is 1 where there is any

Without names: all steps of both ladders. A step may be named with a star: 'step*' is the first ladder. The environment: NVCC is the compiler, JOBS how
many run at once."""

import argparse
import math
import sys
from pathlib import Path

from scripts.evidence.mutants import make, run, table


def main():
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "list", "sim", "gpu", "table"):
        command = commands.add_parser(name)
        if name in ("make", "sim", "gpu"):
            command.add_argument("directory", type=Path)
        if name in ("sim", "gpu"):
            command.add_argument("output", type=Path)
        if name != "table":
            command.add_argument("steps", nargs="*", metavar="STEP")
    commands.choices["gpu"].add_argument("--seconds", type=float, default=math.inf)
    options = parser.parse_args()
    if options.command == "table":
        return table.write()
    steps = make.chosen(options.steps)
    if options.command == "make":
        make.write_programs(options.directory, steps)
    elif options.command == "list":
        make.write_list(sys.stdout, steps)
    elif options.command == "sim":
        run.on_simulator(options.directory, options.output, steps)
    else:
        run.on_gpu(options.directory, options.output, steps, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
