"""The files of an installed drywarp: one list, for the wheel and for make install."""

from pathlib import Path

# What the package reads at run time. It is installed in the package's folder native/, under the paths of the clone (drywarp/paths.py).
NATIVE = ("build/sim/lib/*.a", "build/sim/replay", "build/sim/compile", "build/sim/options", "build/sim/pkgconfig/drywarp.pc", "book/player/*.js",
          "book/player/player.css", "simulator/libraries/include/**/*.h", "docs/findings.md", "scripts/install/toolchain.cmake")
MANUAL = "build/sim/drywarp.1"
# The inputs of make native: the source archive has them (pyproject.toml), and a wheel is built in a copy of them.
SOURCES = ("Makefile", "pyproject.toml", "LICENSE", "mk", "scripts/build", "scripts/install", "simulator", "drywarp", "book/player", "docs/findings.md")


def modules(root: Path) -> dict[str, Path]:
    """The package's modules: the file by its path in the folder of Python's packages."""
    return {file.relative_to(root).as_posix(): file for file in sorted(root.glob("drywarp/**/*.py"))}


def native_files(root: Path) -> dict[str, Path]:
    """The package's other files, in the same form. Raises FileNotFoundError if make native has not made one of them."""
    found: dict[str, Path] = {}
    for pattern in NATIVE:
        files = [file for file in sorted(root.glob(pattern)) if file.is_file()]
        if not files:
            raise FileNotFoundError(f"{root / pattern}: there is no such file")
        found |= {f"drywarp/native/{file.relative_to(root).as_posix()}": file for file in files}
    return found
