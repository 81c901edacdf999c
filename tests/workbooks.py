"""Excel workbooks, put together by hand: as programs write them, and as nobody should."""

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml"'
    ' ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    "</Types>"
)
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def cell(place: str, value: object, formula: str = "") -> str:
    """A cell: a number as one, a text within the cell."""
    made = f"<f>{formula}</f>" if formula else ""
    if isinstance(value, int | float):
        return f'<c r="{place}">{made}<v>{value}</v></c>'
    return f'<c r="{place}" t="str">{made}<v>{value}</v></c>'


def sheet(*rows: list[object]) -> str:
    """The rows of a sheet."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = "".join(cell(f"{chr(65 + at)}{number}", value) for at, value in enumerate(row) if value != "")
        lines.append(f'<row r="{number}">{cells}</row>')
    return "".join(lines)


def workbook(rows: str, before: str = "", sheets: int = 1, more: Mapping[str, bytes] | None = None) -> bytes:
    """A workbook whose sheets all have these rows."""
    named = "".join(f'<sheet name="Sheet {n}" sheetId="{n}" r:id="rId{n}"/>' for n in range(1, sheets + 1))
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, sheets + 1)
    )
    root = f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}">{root}</Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{named}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{related}</Relationships>',
    }
    for n in range(1, sheets + 1):
        parts[f"xl/worksheets/sheet{n}.xml"] = (
            f'{before}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        )
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name, content in {**parts, **(more or {})}.items():
            archive.writestr(name, content)
    return made.getvalue()
