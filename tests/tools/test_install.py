"""make install: drywarp, the simulator as a command, in a folder that moves and has a blank in its name."""

import json
import os
import shlex
import shutil
import signal
import subprocess

import pytest

from drywarp import VERSION, compiler
from scripts.install import contents

from tests.support import FINDINGS, ROOT, make, unsanitized

RACE = "01_no_barrier_after_load.cu"
KIDS = """#include <cstdio>
__global__ void child(int x) { printf("child %d\\n", x); }
__global__ void parent() { child<<<1, 2>>>(7); }
int main() { parent<<<1, 1>>>(); return cudaDeviceSynchronize(); }
"""
pytestmark = unsanitized  # a program of the host's compiler does not link gcc's sanitizers


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Where drywarp lies: installed for a package (DESTDIR), and then moved."""
    folder = tmp_path_factory.mktemp("install")
    result = make("-s", "install", f"DESTDIR={folder}/a package", "PREFIX=/its place")
    assert result.returncode == 0, result.stderr
    return (folder / "a package/its place").rename(folder / "another place")


@pytest.fixture
def drywarp(prefix, tmp_path):
    """Calls it in a folder that holds a program with a race, and one whose kernels launch kernels."""
    shutil.copy(ROOT / "tests/mistakes" / RACE, tmp_path / "race.cu")
    (tmp_path / "kids.cu").write_text(KIDS)
    return lambda *words: subprocess.run([prefix / "bin/drywarp", *words], capture_output=True, text=True, cwd=tmp_path)


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="there is no pkg-config")
def test_an_object_is_linked_by_pkg_config_and_checked(prefix, drywarp, tmp_path):
    """Broken: an object of drywarp-nvcc, compiled with an -arch option, is not linked by the host's compiler; or the SARIF file does not contain the findings."""
    subprocess.run([prefix / "bin/drywarp-nvcc", "-arch=sm_75", "-c", "race.cu", "-o", "race.o"], cwd=tmp_path, check=True)
    asked = subprocess.run(["pkg-config", "--libs", "drywarp"], capture_output=True, text=True, env=os.environ | {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"})
    subprocess.run(["g++", "-o", "race", "race.o", *shlex.split(asked.stdout)], cwd=tmp_path, check=True)
    result = drywarp("check", "--json", "found.json", "--sarif=found.sarif", "race")
    found = json.loads((tmp_path / "found.json").read_text())["findings"]
    assert result.returncode == FINDINGS and result.stderr.endswith("2 findings\n") and [finding["kind"] for finding in found] == ["race-shared", "uninitialised"]
    log = json.loads((tmp_path / "found.sarif").read_text())
    results, rules = log["runs"][0]["results"], {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert log["version"] == "2.1.0" and {one["ruleId"] for one in results} <= rules and len(rules) == 15
    for one, finding in zip(results, found, strict=True):
        place = one["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "race.cu", "uriBaseId": "SRCROOT"} and place["region"]["startLine"] == finding["places"][0]["line"]
        assert one["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == finding["places"][1]["line"]
        assert one["message"]["text"].startswith(f"{finding['name']}: {finding['title']}")


def test_warnings_are_errors_only_if_strict(drywarp, tmp_path):
    """Broken: a race of equal values ends drywarp check with an error, or --strict or the SARIF file treats it otherwise than the simulator does."""
    shutil.copy(ROOT / "tests/mistakes/29_flag_set_by_many.cu", tmp_path / "flag.cu")
    for words, status, level in (((), 0, "warning"), (("--strict",), FINDINGS, "error")):
        result = drywarp("check", *words, "--sarif=found.sarif", "flag.cu")
        assert result.returncode == status and result.stderr.startswith(f"{level}: data race in global memory: "), result.stderr
        assert [one["level"] for one in json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]] == [level]


def test_a_link_keeps_its_name(drywarp, tmp_path):
    """Broken: drywarp runs the file that a link names instead of the link, so that the python of a virtual environment is the system's."""
    (tmp_path / "target").write_text("#!/bin/sh\necho $0\n")
    (tmp_path / "target").chmod(0o755)
    (tmp_path / "link").symlink_to("target")
    assert drywarp("run", "./link").stdout == f"{tmp_path}/link\n"


def test_options_become_settings(drywarp, tmp_path):
    """Broken: drywarp ignores the kernel filter, the suppressions or the time limit."""
    (tmp_path / "known").write_text("race-shared:*/race.cu\n")
    (tmp_path / "wrong").write_text("race\n")
    assert drywarp("build", "-o", "race", "race.cu").returncode == 0
    for words, status, end in ((("--kernel", "reduce"), FINDINGS, "2 findings\n"), (("--kernel=other",), 0, "2 suppressed\ndrywarp: no findings\n"),
                               (("--suppressions", "known"), FINDINGS, "1 finding, 1 suppressed\n"), (("--suppressions", "wrong"), 2, "*:*/library/*\n"),
                               (("--time-limit", "0"), 2, "'0' is not a number of seconds, at least 1\n")):
        result = drywarp("check", *words, "race")
        assert (result.returncode, result.stderr[-len(end):]) == (status, end), words
    assert "SIM_TIME_LIMIT is '99999999999999999999'" in drywarp("run", "--time-limit", "99999999999999999999", "race").stderr


def test_a_source_is_counted(drywarp, tmp_path):
    """Broken: a program whose kernels launch kernels is not built, or its counters are not shown and written."""
    result = drywarp("counters", "--csv", "each.csv", "kids.cu")
    assert result.returncode == 0 and result.stdout.count("child 7\n") == 2, result.stderr
    assert [line.split()[:2] for line in result.stdout.splitlines() if line.startswith(("parent ", "child  "))] == [["parent", "1"], ["child", "1"]]
    assert (tmp_path / "each.csv").read_text().count("\n") == 3


def test_kernels_are_compiled_without_nvcc(prefix, tmp_path):
    """Broken: the kernel compiler is not installed, needs nvcc, or says nothing about an option that it lacks."""
    shutil.copy(ROOT / "tests/mistakes" / RACE, tmp_path / "race.cu")
    without = os.environ | {"PATH": "/usr/bin:/bin", "CUDA_HOME": ""}
    result = subprocess.run([prefix / "bin/drywarp", "compile", "race.cu"], capture_output=True, text=True, cwd=tmp_path, env=without)
    assert (result.returncode, result.stderr) == (0, "") and ".visible .entry _Z6reducePKfPf(" in (tmp_path / "race.ptx").read_text()
    refused = subprocess.run([prefix / "bin/drywarp", "compile", "race.cu", "-Iinclude"], capture_output=True, text=True, cwd=tmp_path, env=without)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "-Iinclude" in refused.stderr


def test_a_page_is_written(drywarp, tmp_path):
    """Broken: something that pages are made of is not installed."""
    result = drywarp("page", "-o", "played.html", "race.cu")
    assert result.returncode == 0 and "playerPrograms" in (tmp_path / "played.html").read_text(), result.stderr


def test_errors_are_reported_in_one_line(drywarp, tmp_path):
    """Broken: nvcc or Python reports a wrong word; or a folder is overwritten."""
    (tmp_path / "folder").mkdir()
    shutil.copy("/bin/true", tmp_path / "other")
    (tmp_path / "nothing").touch(mode=0o755)
    for words, said in [(["chek"], "invalid choice: 'chek'"), (["run"], "needs a CUDA program"), (["run", "none.cu"], "no such file: none.cu"),
                        (["run", "./none", "3"], "no such file: none"), (["run", "-o", "x", "race.cu"], "build -o"), (["build", "-cubin", "race.cu"], "machine code"),
                        (["check", "-ptx", "race.cu"], "-ptx makes none"), (["check", "--jsn", "x", "race.cu"], "did you mean --json?"),
                        (["run", "--json", "x", "race.cu"], "check has it"), (["check", "--json"], "expected one argument"), (["check", "--json=", "race.cu"], "name of a file"),
                        (["check", "other", "--json", "x"], "--json after the program"), (["check", "other"], "wrote no findings file"),
                        (["run", "nothing"], "nothing cannot be run"), (["page", "other"], "name the source"), (["check", "--json", "folder", "race.cu"], "no regular file"),
                        (["check", "--sarif", "/proc/none/x", "race.cu"], "/proc/none/x cannot be written")]:
        result = drywarp(*words)
        assert result.returncode == 2 and said in result.stderr and result.stderr.count("\n") == 1, (words, result.stderr)


def test_a_built_program_gets_its_arguments(drywarp, tmp_path):
    """Broken: drywarp check ./app args or drywarp check -- ./app args gives them to nvcc or takes them for drywarp's own."""
    (tmp_path / "app").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "app").chmod(0o755)
    for words in (["./app", "-o", "3"], ["--", "./app", "-o", "3"], ["./app", "--", "-o", "3"]):
        assert drywarp("run", *words).stdout == "-o 3\n", words


def test_a_killed_program_is_not_taken_for_one_without_cuda(drywarp, tmp_path):
    """Broken: the message about a program that a signal ended guesses at causes; or no file of findings is written."""
    (tmp_path / "app").write_text("#!/bin/sh\nkill -SEGV $$\n")
    (tmp_path / "app").chmod(0o755)
    result = drywarp("check", "--json", "found.json", "./app")
    assert result.returncode == 128 + signal.SIGSEGV and result.stderr == "drywarp: app was killed by SIGSEGV\ndrywarp: no findings before the run was cut short\n"
    assert json.loads((tmp_path / "found.json").read_text())["findings"] == []


def test_an_interrupted_check_writes_its_findings(prefix, tmp_path):
    """Broken: SIGTERM leaves the program running, or loses the findings."""
    app = tmp_path / "app"
    app.write_text('#!/bin/sh\necho \'{"findings": [], "left_out": 7}\' > "$SIM_FINDINGS"\necho ready\nexec sleep 60\n')
    app.chmod(0o755)
    with subprocess.Popen([prefix / "bin/drywarp", "check", "--json", tmp_path / "found.json", app], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.wait(10) == 128 + signal.SIGTERM and process.stderr.read() == f"drywarp: {app} was interrupted by SIGTERM\n"
    assert json.loads((tmp_path / "found.json").read_text())["left_out"] == 7


@pytest.mark.skipif(not shutil.which("cmake"), reason="there is no cmake")
def test_cmake_finds_the_compiler_by_its_toolchain_file(prefix, drywarp, tmp_path):
    """Broken: drywarp cmake names another file, or that file does not find drywarp-nvcc in a moved folder, without the PATH; or a library of NVIDIA's
    packages beside drywarp, which have no link without a version."""
    library = prefix / "lib/drywarp/nvidia/cu13/lib/libnvrtc.so.13"
    library.parent.mkdir(parents=True, exist_ok=True)
    library.touch()
    (tmp_path / "ask.cmake").write_text('include("${FILE}")\nfile(REAL_PATH "${CUDA_nvrtc_LIBRARY}" library)\nmessage("${CMAKE_CUDA_COMPILER}\\n${library}")\n')
    result = subprocess.run(["cmake", f"-DFILE={drywarp('cmake').stdout.strip()}", "-P", tmp_path / "ask.cmake"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, f"{prefix}/bin/drywarp-nvcc\n{library}\n")


def test_the_source_archive_has_the_inputs_of_the_build():
    """Broken: a wheel cannot be built from the source archive, or two files name two versions."""
    tomllib = pytest.importorskip("tomllib", reason="Python before 3.11")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packed = project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    assert {*packed, "pyproject.toml", "LICENSE"} == {*contents.SOURCES}  # hatchling adds these two
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()


@pytest.mark.skipif(not shutil.which("cmake"), reason="there is no cmake")
def test_a_project_finds_the_toolkit_before_it_enables_cuda(drywarp, tmp_path):
    """Broken: find_package(CUDAToolkit) of a C++ project fails without nvcc in the PATH, or takes another nvcc; or -lcuda lacks the simulator."""
    (tmp_path / "any.cpp").write_text('extern "C" int cuInit(unsigned);\nint main() { return cuInit(0); }\n')
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.18)\nproject(any LANGUAGES CXX)\nfind_package(CUDAToolkit REQUIRED)\n"
                                             "message(STATUS found=${CUDAToolkit_NVCC_EXECUTABLE})\nadd_executable(any any.cpp)\ntarget_link_libraries(any cuda)\n")
    toolchain = drywarp("cmake").stdout.strip()
    result = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}"], capture_output=True, text=True)
    assert result.returncode == 0 and "/bin/drywarp-nvcc\n" in result.stdout, result.stdout + result.stderr
    assert subprocess.run(["make", "-s", "-C", tmp_path / "build"]).returncode == 0 and subprocess.run([tmp_path / "build/any"]).returncode == 0


def test_a_link_to_drywarp_is_not_nvcc(tmp_path, monkeypatch):
    """Broken: for a Makefile that calls nvcc, a link of that name to drywarp-nvcc calls itself without end."""
    for folder in ("link", "real"):
        (tmp_path / folder).mkdir()
    for name in ("drywarp-nvcc", "real/nvcc"):
        (tmp_path / name).touch(0o755)
    (tmp_path / "link/nvcc").symlink_to(tmp_path / "drywarp-nvcc")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}/link:{tmp_path}/real")
    assert compiler.find([]) == f"{tmp_path}/real/nvcc"


def test_options_about_the_gpu_are_left_out():
    """Broken: nvcc is asked for machine code beside the simulator's PTX; or an option of the user's own is lost."""
    given = "-arch sm_80 -gencode=arch=compute_80,code=sm_80 --gpu-architecture=native -code sm_80 -cudart shared -dlto -lineinfo -Iinc -O1 -o x a.cu -lcudart -code=sm_90"
    assert compiler.without_device(given.split()) == ["-Iinc", "-O1", "-o", "x", "a.cu", "-lcudart"]


def test_a_library_that_needs_a_gpu_is_named():
    """Broken: the toolkit's cuBLAS is linked without a word; its calls fail, and drywarp check has no findings. Or one that works is named."""
    given = "-lcublas /opt/cuda/lib64/libcufft.so.12 /opt/cuda/lib64/libcublasLt_static.a -lcurand -lcudart -lm cublas.cu -I/opt/libcublas/include"
    assert compiler.needing_gpu(given.split()) == ["cublas", "cufft", "cublasLt_static"]


def test_uninstall_removes_only_its_own_files(tmp_path):
    """Broken: a file stays; other files are lost; or a folder with the name of a file is overwritten."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/other").touch()
    assert make("-s", "install", f"PREFIX={tmp_path}").returncode == 0
    assert make("-s", "uninstall", f"PREFIX={tmp_path}").returncode == 0
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "bin/other"] and os.listdir(tmp_path) == ["bin"]
    (tmp_path / "bin/drywarp").mkdir()
    refused = make("-s", "install", f"PREFIX={tmp_path}")
    assert refused.returncode == 2 and "no regular file" in refused.stderr and os.listdir(tmp_path) == ["bin"]
