"""The table of a public suite's programs, by the suite's own names and lists: cases.csv, which suite.py runs."""

import ast
import csv
import re

from drywarp import files

CASE_COLUMNS = ["program", "source", "options", "label", "input", "arguments"]
RACES = ("atomicBug", "guardBug", "raceBug", "syncBug")  # in the names of Indigo's programs
LISTS = ("racey.py", "spatial_offset_r.py", "spatial_offset_w.py", "temporal.py")  # of Barracuda's
RIGHT, HAZARD = ("NO_ERR", "NO_RACE"), re.compile("_(RAW|WAR|WAW)$")  # what its lists expect of cuda-memcheck
NO_LONGER_THERE = "-DcudaThreadSetLimit=cudaDeviceSetLimit"  # CUDA 13


def indigo(folder):
    graphs = sorted(folder.glob("input/*.egr"))
    for source in sorted(folder.glob("indigo_sources/*/*.cu")):
        label = "race" if any(bug in source.stem for bug in RACES) else "memory" if "boundsBug" in source.stem else "clean"
        for graph in graphs:
            yield source.stem, source, "-Iindigo_include", label, graph.stem, f"{graph.relative_to(folder)} 256 1024"


def scor(folder):
    for source in sorted(folder.glob("microbenchmarks/src/*.cu")):
        yield source.stem, source, "", "race" if source.stem.startswith("race") else "clean", "", ""


def values_of(call, names):
    """A call's arguments, still as they are written, by the names of its parameters."""
    return dict(zip(names, call.args)) | {keyword.arg: keyword.value for keyword in call.keywords}


def label_of(expected):
    """What a test expects of the tool: CudaError.NAME, or a list of these, which are hazards."""
    names = [one.attr for one in (expected.elts if isinstance(expected, ast.List) else [expected])]
    return "clean" if names[0] in RIGHT else "race" if HAZARD.search(names[0]) else "memory"


def barracuda(folder):
    """Each list of arguments is a program of its own, called by its source, its macros and these."""
    programs = [call for name in LISTS for call in ast.walk(ast.parse((folder / name).read_text(encoding="utf-8")))
                if isinstance(call, ast.Call) and call.func.id.endswith("TestProgram")]
    for call in programs:
        values = values_of(call, ("sourceFile", "testCases"))
        macros = ast.literal_eval(values["macros"]) if "macros" in values else {}
        words = sorted(name if value is None else f"{name}={value}" for name, value in macros.items())
        for test in values["testCases"].elts:
            arguments = [ast.literal_eval(value) for value in test.args[1:]]
            source = ast.literal_eval(values["sourceFile"])
            yield (" ".join([source, *words, *arguments]), folder / source, " ".join([*(f"-D{word}" for word in words), NO_LONGER_THERE]),
                   label_of(test.args[0]), "", " ".join(arguments))


# By what lies in the folder: indigo of HiRace's artifact, or a checkout.
SUITES = {"indigo_sources": indigo, "microbenchmarks": scor, "racey.py": barracuda}


def write(folder):
    """Writes the table of the suite that lies in a folder; false where none of these does."""
    suites = [suite for name, suite in SUITES.items() if (folder / name).exists()]
    if not suites:
        return False
    with files.whole(folder / "cases.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(CASE_COLUMNS)
        writer.writerows((name, source.relative_to(folder), *rest) for name, source, *rest in suites[0](folder))
    return True
