"""One name for one thing: what the floors that all stand on call something, nothing above them is called."""

import ast
from collections.abc import Iterator
from pathlib import Path

import mainstay

SOURCE = Path(mainstay.__file__).parent
# What everyone reads first, and takes for granted in every other file.
SHARED = ("terms", "kernel", "ledger", "settings.py")


def defined(file: Path) -> Iterator[str]:
    """The classes and kinds that a file defines for others."""
    for one in ast.parse(file.read_text()).body:
        if isinstance(one, ast.ClassDef):
            yield one.name
        elif isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            name = one.targets[0].id
            if name[0].isupper() and not name.isupper():
                yield name


def test_no_name_of_the_shared_floors_means_something_else_elsewhere() -> None:
    files = {file: file.relative_to(SOURCE).parts[0] for file in SOURCE.rglob("*.py")}
    shared = {name: file for file, floor in files.items() if floor in SHARED for name in defined(file)}
    again = [
        (name, str(file.relative_to(SOURCE)))
        for file in files
        for name in defined(file)
        if shared.get(name, file) != file
    ]
    assert len(shared) > 50
    assert again == []
