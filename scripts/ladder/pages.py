"""The pages of the course."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def all_pages():
    """The pages that may contain markers."""
    return [ROOT / "README.md", *(path for pattern in ("[!.]*/README.md", "docs/*.md", "simulator/[!R]*.md", "labs/*/*/README.md", "labs/*/README.md",
                                                       "scan/*/README.md") for path in sorted(ROOT.glob(pattern)))]


def lab_of(step):
    """The lab of a page, or None; step is the page's folder."""
    return step.split("/")[1] if step and step.startswith("labs/") else None
