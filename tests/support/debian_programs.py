"""Programs of Debian's packages: the system's own, or unpacked by `tests/debian_packages.sh`."""

import os
import shutil
import sys
from pathlib import Path

import pytest

_UNPACKED_PACKAGES = Path(sys.prefix, "clients", "debian")


def find_program(name: str) -> str:
    """Return the path of a program; leave the test out if it is not here."""
    places = os.pathsep.join(
        [os.environ["PATH"], "/usr/sbin", *(str(_UNPACKED_PACKAGES / at) for at in ("usr/sbin", "usr/bin"))]
    )
    found = shutil.which(name, path=places)
    if found is None:
        pytest.skip(f"{name} is not here. `make test` gets it from the packages of Debian, where the system is one.")
    return found


def library_environment() -> dict[str, str]:
    """Return an environment in which a program finds the libraries that were unpacked with it."""
    folders = map(str, _UNPACKED_PACKAGES.glob("usr/lib/*-linux-*"))
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(folders)}
