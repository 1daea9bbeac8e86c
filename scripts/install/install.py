"""make install and make uninstall: drywarp under $DESTDIR$PREFIX, or removes it. make native builds what it installs.

Installed files refer to each other by relative paths, so that the folder may move."""

import os
import shutil
import sys
from pathlib import Path

from drywarp import VERSION
from drywarp.errors import fail
from scripts.install import contents

ROOT = Path(__file__).resolve().parents[2]
APP = Path("lib/drywarp")  # the folder of Python's packages
SCRIPTS = ROOT / "scripts/install"


def texts() -> dict[str, tuple[str, int]]:
    """The content and the mode of each file beside the application's folder."""
    package = (ROOT / "build/sim/pkgconfig/drywarp.pc").read_text()
    return {"bin/drywarp": ((SCRIPTS / "drywarp").read_text(), 0o755),
            "bin/drywarp-nvcc": ((SCRIPTS / "drywarp-nvcc").read_text(), 0o755),
            "lib/pkgconfig/drywarp.pc": (package.replace("${pcfiledir}/..", "${pcfiledir}/../drywarp/drywarp/native/build/sim"), 0o644),
            "share/man/man1/drywarp.1": ((ROOT / contents.MANUAL).read_text(), 0o644)}


FILES = ("bin/drywarp", "bin/drywarp-nvcc", "lib/pkgconfig/drywarp.pc", "share/man/man1/drywarp.1")


def check(prefix: Path) -> None:
    """Ends the program if something else is in the way."""
    for name in FILES:
        if os.path.lexists(prefix / name) and not (prefix / name).is_file():
            fail(f"{prefix / name} is there and no regular file: nothing was done")
    if os.path.lexists(prefix / APP) and not (prefix / APP / "drywarp/paths.py").is_file():
        fail(f"{prefix / APP} is there and not drywarp's: nothing was done")


def fill(folder: Path) -> None:
    """The application's folder, as pip would fill that of Python's packages; and the compiler of make toolkit, if that is used."""
    for name, file in (contents.modules(ROOT) | contents.native_files(ROOT)).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / name)
    if os.environ.get("TOOLKIT"):
        toolkit = next(Path(os.environ["TOOLKIT"]).glob("venv/lib/python3*/site-packages/nvidia/cu13"))
        shutil.copytree(toolkit, folder / "drywarp/native/toolkit")


def install(prefix: Path) -> None:
    check(prefix)
    unfinished = (prefix / APP).with_suffix(".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        fill(unfinished)
        shutil.rmtree(prefix / APP, ignore_errors=True)
        unfinished.rename(prefix / APP)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    for name, (text, mode) in texts().items():
        file = prefix / name
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(file.name + ".new")
        part.write_text(text)
        part.chmod(mode)
        part.replace(file)
    print(f"installed: {prefix}/bin/drywarp ({VERSION})")


def uninstall(prefix: Path) -> None:
    check(prefix)
    if not (prefix / APP).exists():
        fail(f"there is no drywarp in {prefix}")
    shutil.rmtree(prefix / APP)
    for file in map(prefix.joinpath, FILES):
        file.unlink(missing_ok=True)
        for folder in file.relative_to(prefix).parents[:-1]:
            if (prefix / folder).is_dir() and not any((prefix / folder).iterdir()):
                (prefix / folder).rmdir()
    print(f"uninstalled: {prefix}/bin/drywarp")


def main() -> None:
    actions = {"install": install, "uninstall": uninstall}
    if sys.argv[1:2] == ["--help"]:
        print(__doc__)
    elif len(sys.argv) != 2 or sys.argv[1] not in actions:
        fail("usage: python3 -m scripts.install.install install|uninstall")
    elif not os.environ.get("PREFIX"):
        fail("PREFIX is empty; name a folder, as in: PREFIX=~/.local")
    else:
        prefix = os.path.expanduser(os.environ["PREFIX"])
        actions[sys.argv[1]](Path(os.environ.get("DESTDIR", "") + prefix).absolute())


if __name__ == "__main__":
    main()
