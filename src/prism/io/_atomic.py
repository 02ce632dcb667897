"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prism.errors import WriteError

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside a file, and move it there when all went well.

    Parameters
    ----------
    path : path-like
        The file to write. It keeps its old contents until the new ones are complete.

    Raises
    ------
    WriteError
        When the directory is missing or cannot be written.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield draft
        os.replace(draft, target)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(
            f"{os.fspath(path)}: cannot be written ({reason}): check the directory."
        ) from error
    finally:
        draft.unlink(missing_ok=True)
