"""Where drywarp's own files are: in the installed package's folder native/, or in the clone under the same paths."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_NATIVE = _PACKAGE / "native"
ROOT = _NATIVE if _NATIVE.is_dir() else _PACKAGE.parent
