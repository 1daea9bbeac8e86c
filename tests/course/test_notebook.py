"""The notebook for Colab: its cells, run in order, with the simulator in place of the GPU."""


import pytest

from tests.support import PROGRAMS, ROOT


nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.setenv("DEVICE", "sim")
    monkeypatch.setenv("N", "4096")
    monkeypatch.setenv("RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return nbformat.read(ROOT / "notebooks/colab.ipynb", as_version=4)


def run(notebook, folder):
    """The outputs of all cells; a cell that fails raises."""
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}})
    return [output for cell in client.execute().cells for output in cell.get("outputs", [])]


def printed(outputs):
    return "".join(output.text for output in outputs if output.output_type == "stream")


def test_every_cell_runs_and_the_chart_is_shown(notebook, tmp_path):
    """Broken: a cell fails, the notebook shows no chart, or it writes to the reader's own results."""
    outputs = run(notebook, ROOT / "notebooks")
    charts = [output.data["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert [chart.count("<path") for chart in charts] == [(tmp_path / "results/simulated.svg").read_text().count("<path")]
    text = printed(outputs)
    programs = len(PROGRAMS)
    assert f"{programs} passed, 0 failed" in text and "\n1 passed, 0 failed" in text.replace("\r", "")
    assert "__global__ void reduce(" in text and "+    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {" in text


def test_a_failure_stops_the_notebook(notebook, monkeypatch):
    """Broken: a step fails, and the notebook goes on as if nothing had happened."""
    monkeypatch.setenv("N", "none")
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="a step failed"):
        run(notebook, ROOT)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git repository to clone from")
def test_the_repository_is_cloned_where_there_is_none(notebook, tmp_path):
    """Broken: the first cell does not bring the repository to a machine without it, or not say what it needs for that."""
    del notebook.cells[2:]
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="put the address of the repository"):
        run(notebook, tmp_path)
    notebook.cells[1].source = notebook.cells[1].source.replace('REPOSITORY = ""', f'REPOSITORY = "file://{ROOT}"', 1)
    for _ in range(2):  # the second time it finds the clone
        run(notebook, tmp_path)
        assert (tmp_path / "reduction/step00_baseline/reduce.cu").exists()


def test_the_notebook_is_stored_without_outputs(notebook):
    """Broken: outputs of somebody's run lie in the repository, and change with every run."""
    assert all(cell.execution_count is None and not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
