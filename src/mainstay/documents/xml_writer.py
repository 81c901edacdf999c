"""Write XML: nested calls build the elements, and elements without content are left out."""

import re
from decimal import Decimal
from xml.etree.ElementTree import Element, tostring

XmlContent = Element | str | Decimal | None

# Characters that XML does not allow: control characters and surrogates.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def element(name: str, *content: XmlContent, **attributes: str | None) -> Element | None:
    """Return an element, or None if it has no content."""
    built = Element(name, {attribute: value for attribute, value in attributes.items() if value is not None})
    for part in content:
        if isinstance(part, Element):
            built.append(part)
        elif part is not None:
            built.text = _NOT_XML.sub("", part if isinstance(part, str) else f"{part:f}").strip()
    return built if len(built) or built.text else None


def write_document(name: str, namespaces: dict[str, str], *content: XmlContent) -> bytes:
    """Return a whole document with these namespaces declared."""
    root = Element(name, namespaces)
    root.extend(part for part in content if isinstance(part, Element))
    xml: bytes = tostring(root, encoding="UTF-8", xml_declaration=True)
    return xml
