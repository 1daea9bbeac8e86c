"""The notebook for Colab: its cells, run in order, on the simulator instead of a GPU. make test only parses them, because Jupyter is slow."""

import ast
import json
import re

import pytest

from tests.support import PROGRAMS, ROOT, longer, make

NOTEBOOK = ROOT / "elsewhere/colab.ipynb"
CELLS = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
COMMAND = re.compile(r"^( *)!(.*)$", re.M)


def test_the_notebook_is_stored_without_outputs():
    """Broken: the repository contains outputs of a run, which change with every run."""
    assert CELLS and all(cell["execution_count"] is None and not cell["outputs"] for cell in CELLS)


def test_cells_parse_and_their_commands_exist():
    """Broken: a cell has a syntax error, or calls a make target that no longer exists."""
    for cell in CELLS:
        text = "".join(cell["source"])
        ast.parse(COMMAND.sub(r"\1pass", text))
        for _, command in COMMAND.findall(text):
            if command.startswith("make "):
                assert make("-n", *command.split()[1:], "DEVICE=sim").returncode == 0, command


@pytest.fixture
def nbclient():
    pytest.importorskip("ipykernel")
    return pytest.importorskip("nbclient")


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("DEVICE", "sim")
    monkeypatch.setenv("N", "4096")
    monkeypatch.setenv("RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return nbformat.read(NOTEBOOK, as_version=4)


def run(nbclient, notebook, folder):
    """The outputs of all cells; raises if a cell fails."""
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}})
    return [output for cell in client.execute().cells for output in cell.get("outputs", [])]


def printed(outputs):
    return "".join(output.text for output in outputs if output.output_type == "stream")


@longer
def test_every_cell_runs_and_the_chart_is_shown(nbclient, notebook, tmp_path):
    """Broken: a cell fails, the notebook shows no chart, or it overwrites the reader's results."""
    outputs = run(nbclient, notebook, ROOT / "elsewhere")
    charts = [output.data["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert [chart.count("<path") for chart in charts] == [(tmp_path / "results/simulated.svg").read_text().count("<path")]
    text = printed(outputs)
    programs = len(PROGRAMS)
    assert f"{programs} passed, 0 failed" in text and "\n1 passed, 0 failed" in text.replace("\r", "")
    assert "__global__ void reduce(" in text and "+    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {" in text


@longer
def test_a_failure_stops_the_notebook(nbclient, notebook, monkeypatch):
    """Broken: a step fails, and the notebook continues."""
    monkeypatch.setenv("N", "none")
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="a step failed"):
        run(nbclient, notebook, ROOT)


@longer
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git repository to clone from")
def test_the_repository_is_cloned_where_there_is_none(nbclient, notebook, tmp_path):
    """Broken: on a machine without the repository the first cell does not clone it, or does not say that it needs the address."""
    del notebook.cells[2:]
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="put the address of the repository"):
        run(nbclient, notebook, tmp_path)
    notebook.cells[1].source = notebook.cells[1].source.replace('REPOSITORY = ""', f'REPOSITORY = "file://{ROOT}"', 1)
    for _ in range(2):  # the second run finds the clone
        run(nbclient, notebook, tmp_path)
        assert (tmp_path / "reduction/step00_baseline/reduce.cu").exists()
