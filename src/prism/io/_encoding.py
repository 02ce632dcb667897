"""Which characters the bytes of a text file stand for."""

from __future__ import annotations

import codecs

from prism.errors import ReadError
from prism.io import _limits as limits

__all__ = ["COMMENT", "encoding_of"]

COMMENT = ("#", "%")
"""What begins a comment above the data; among the data only the first does."""

WIDE = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def encoding_of(path: str) -> str:
    """Return the encoding of a text file.

    It is UTF-16 where a byte order mark says so, and otherwise UTF-8. A file with other bytes is
    read as Latin-1 when they are all in comments or in the line of names, where they do no harm.

    Parameters
    ----------
    path : str
        The file.

    Raises
    ------
    ReadError
        When a byte among the numbers is not text; the message has its line.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open(path, "rb") as file:
        mark = file.read(2)
        if mark in WIDE:
            return WIDE[mark]
        file.seek(0)
        try:
            while block := file.read(limits.BYTES_AT_ONCE):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            _check_rows(path)
            return "latin-1"
    return "utf-8-sig"


def _check_rows(path: str) -> None:
    """Refuse bytes that are not UTF-8 below the first row that is no comment."""
    above = True
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.strip()
            if not text or text.startswith(tuple(mark.encode() for mark in COMMENT)):
                continue
            if not above:
                _check_bytes(path, number, text.partition(b"#")[0])
            above = False


def _check_bytes(path: str, number: int, text: bytes) -> None:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReadError.at(
            path,
            f"the byte 0x{text[error.start]:02x} is not text in UTF-8: correct the cell, or save "
            "the file in UTF-8.",
            line=number,
        ) from error
