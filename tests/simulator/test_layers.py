"""The simulator's layers: a file uses headers and names of its own layer or a lower one only; files of a layer form no cycles; and no file is long."""

import functools
import graphlib
import re
import subprocess

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.builds("build/sim/replay", "build/sim/machine_alone", "build/sim/compile", "build/sim/ptx_run_minimal")  # of all objects

# From the lowest. The folders of machine/ are one layer: an access may end a block, and a block reads memory. The compiler uses base/ only, and only
# the page uses the compiler.
LAYERS = ["base", "compiler", "front", "machine", "checker", "runtime/work", "runtime/api", "driver", "page"]
SIMULATOR = ROOT / "simulator"
SOURCES = sorted(path.relative_to(SIMULATOR) for path in SIMULATOR.rglob("*.[ch]") if "libraries" not in path.parts)


def layer(path):
    return next(number for number, folder in enumerate(LAYERS) if str(path).startswith(folder + "/"))


def points_up(user, used):
    compiles = layer(used) == LAYERS.index("compiler") and not str(user).startswith(("compiler/", "page/"))
    return layer(used) > layer(user) or compiles


def object_of(source):
    """The object file of a source; the compiler's objects are apart."""
    return ROOT / "build/sim" / ("compiler" if str(source).startswith("compiler/") else "objects") / source.with_suffix(".o")


def symbols(objects, *options):
    """The names in each of these object files, all of which nm reads in one go."""
    listed = subprocess.run(["nm", "-A", "-P", *options, *objects], text=True, capture_output=True, check=True).stdout
    found = {str(path): set() for path in objects}
    for line in listed.splitlines():
        path, name = line.split()[:2]
        found[path.removesuffix(":")].add(name)
    return found


def test_includes_point_down():
    """Broken: a file includes a header of a higher layer."""
    up = [(str(path), used) for path in SOURCES
          for used in re.findall(r'^#include "(.+)"', (SIMULATOR / path).read_text(), re.MULTILINE) if points_up(path, used)]
    assert up == []


@functools.cache
def uses():
    """Each name that an object file needs of another one, as (user, used, name)."""
    files = {str(object_of(path)): path for path in SOURCES if path.suffix == ".c" and str(path) not in ("page/player.c", "page/compile.c")}  # compiled for the web page only
    home = {name: files[path] for path, names in symbols(files, "--defined-only", "--extern-only").items() for name in names}
    return [(files[path], home[name], name) for path, names in symbols(files, "--undefined-only").items() for name in sorted(names) if name in home]


def test_names_point_down():
    """Broken: a file calls a function of a higher layer."""
    assert [(str(user), str(used), name) for user, used, name in uses() if points_up(user, used)] == []


CYCLIC = ("compiler",)  # the layer whose cycles are still to be removed


@pytest.mark.parametrize("folder", [folder for folder in LAYERS if folder not in CYCLIC])
def test_no_cycle_within_a_layer(folder):
    """Broken: files of a layer call each other, so that none can be understood or tested without the others. Move a function to the file whose data it uses."""
    needs = {}
    for user, used, _ in uses():
        if LAYERS[layer(user)] == LAYERS[layer(used)] == folder:
            needs.setdefault(str(user), []).append(str(used))
    cycle = []
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        cycle = error.args[1][::-1]  # each file calls the next one
    pairs = set(zip(cycle, cycle[1:], strict=False))
    assert cycle == [], "\n".join(f"{user} uses {name} of {used}" for user, used, name in uses() if (str(user), str(used)) in pairs)


LARGEST = {".c": 600, ".h": 250}  # lines


def test_no_file_is_too_long():
    lengths = {path: len((SIMULATOR / path).read_text().splitlines()) for path in SOURCES}
    assert {str(path): lines for path, lines in lengths.items() if lines > LARGEST[path.suffix]} == {}


KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry reverse(.param .u64 out)
{
    .reg .u32 %n<5>;
    .reg .u64 %at<3>;
    .shared .align 4 .b8 held[256];
    mov.u32 %n0, %tid.x;
    mov.u32 %n1, held;
    mad.lo.u32 %n2, %n0, 4, %n1;
    st.shared.u32 [%n2], %n0;
    bar.sync 0;
    sub.u32 %n3, 63, %n0;
    mad.lo.u32 %n2, %n3, 4, %n1;
    ld.shared.u32 %n4, [%n2];
    ld.param.u64 %at0, [out];
    mad.wide.u32 %at1, %n0, 4, %at0;
    st.global.u32 [%at1], %n4;
    ret;
}
"""


def test_the_machine_runs_without_checker_and_runtime(tmp_path):
    (tmp_path / "reverse.ptx").write_text(KERNEL)
    result = subprocess.run([ROOT / "build/sim/machine_alone", tmp_path / "reverse.ptx", "reverse", "64"], text=True, capture_output=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split() == [str(number) for number in reversed(range(64))]
