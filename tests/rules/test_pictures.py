"""The pictures of the README are there, are named in it, and are small. Before a release, they show the pages of now.

What is on them is for people to look at.
"""

import pytest
from PIL import Image

from rules.pictures import FOLDER, PICTURES, TAKEN_OF, hash_sources
from support.browser import NARROW

_MAX_BYTES = 150_000


def test_the_readme_shows_each_picture_and_no_other() -> None:
    readme = (FOLDER.parents[1] / "README.md").read_text("utf-8")
    names = {f"{picture.name}.png" for picture in PICTURES}
    assert {path.name for path in FOLDER.iterdir()} == names, "run `make pictures`"
    assert {name for name in names if f"](docs/pictures/{name})" not in readme} == set()
    assert readme.count("docs/pictures/") == len(names)


def test_each_is_of_its_size_and_not_heavy() -> None:
    for picture in PICTURES:
        path = FOLDER / f"{picture.name}.png"
        assert path.stat().st_size < _MAX_BYTES
        with Image.open(path) as image:
            assert image.size == picture.size
    assert PICTURES[-1].size == NARROW


def test_what_the_pictures_were_taken_of_is_found() -> None:
    sources = hash_sources()
    assert sources.keys() >= {"shell.html", "diary.html", "office.css", "home.css", "schedule.css", "visit.css"}
    assert sources == hash_sources()


# Not after each change of a template, only before a release.
@pytest.mark.long
def test_the_pictures_show_the_pages_as_they_are() -> None:
    taken_of = dict(line.split() for line in TAKEN_OF.read_text("utf-8").splitlines()) if TAKEN_OF.exists() else {}
    sources = hash_sources()
    changed = {name for name in taken_of.keys() | sources.keys() if taken_of.get(name) != sources.get(name)}
    assert changed == set(), "run `make pictures`, and look at them"
