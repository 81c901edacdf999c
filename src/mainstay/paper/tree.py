"""XML, written as it is read: an element with its content, and no element where there is nothing to say."""

import re
from decimal import Decimal
from xml.etree.ElementTree import Element, tostring

Content = Element | str | Decimal | None

# What XML has no place for: controls, and halves of letters.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def element(name: str, *content: Content, **attributes: str | None) -> Element | None:
    """An element; none if there is nothing in it."""
    made = Element(name, {attribute: value for attribute, value in attributes.items() if value is not None})
    for each in content:
        if isinstance(each, Element):
            made.append(each)
        elif each is not None:
            made.text = _NOT_XML.sub("", each if isinstance(each, str) else f"{each:f}").strip()
    return made if len(made) or made.text else None


def document(name: str, namespaces: dict[str, str], *content: Content) -> bytes:
    """A whole document; names are written with the short forms of these namespaces."""
    root = Element(name, namespaces)
    root.extend(each for each in content if isinstance(each, Element))
    written: bytes = tostring(root, encoding="UTF-8", xml_declaration=True)
    return written
