"""The pictures of the README are there, are named in it, and are small. What they show is for people to look at."""

from PIL import Image

from rules.pictures import FOLDER, PICTURES
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
