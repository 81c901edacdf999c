"""Excel workbooks, made by hand: good ones and broken ones."""

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


def make_cell(reference: str, value: object, formula: str = "") -> str:
    """Make a cell: a number, or an inline text."""
    formula_part = f"<f>{formula}</f>" if formula else ""
    if isinstance(value, int | float):
        return f'<c r="{reference}">{formula_part}<v>{value}</v></c>'
    return f'<c r="{reference}" t="str">{formula_part}<v>{value}</v></c>'


def make_sheet_rows(*rows: list[object]) -> str:
    """Make the rows of a sheet."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = "".join(make_cell(f"{chr(65 + at)}{number}", value) for at, value in enumerate(row) if value != "")
        lines.append(f'<row r="{number}">{cells}</row>')
    return "".join(lines)


def make_workbook(rows: str, before: str = "", sheets: int = 1, more: Mapping[str, bytes] | None = None) -> bytes:
    """Make a workbook whose sheets all have these rows."""
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
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, content in {**parts, **(more or {})}.items():
            archive.writestr(name, content)
    return buffer.getvalue()
