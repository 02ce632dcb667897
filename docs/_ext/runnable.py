"""Run the code of the pages that conf.py names, and show below each block what came of it."""

import fnmatch
import os
import shutil
import tempfile
from pathlib import Path

from run_page import Session, blocks

OUTPUT = "\n\n```{{code-block}} text\n:class: {kind}\n\n{text}\n```\n"
WIDEST = 105  # tables keep their columns; sentences that are longer may wrap
IMAGE = '<img class="figure" alt="{name}, drawn by the code above" src="{src}">'
FIGURE = f"\n\n```{{{{raw}}}} html\n{IMAGE}\n```\n"


def _wanted(app, docname):
    return any(fnmatch.fnmatch(docname, pattern) for pattern in app.config.run_pages)


def _run(app, docname, source):
    """Put outputs and figures behind the blocks, from the last to the first."""
    found = blocks(source[0]) if _wanted(app, docname) else []
    with tempfile.TemporaryDirectory() as folder:
        session = Session(folder, docname)
        outcomes = [session.run(block) for block in found]
        for block, outcome in reversed(list(zip(found, outcomes, strict=True))):
            shown = _shown(app, docname, outcome)
            source[0] = source[0][: block.end] + shown + source[0][block.end :]


def _shown(app, docname, outcome):
    text = outcome.text.rstrip()
    wide = max(map(len, text.splitlines()), default=0) > WIDEST
    kind = "output wrapped" if wide else "output"
    parts = [OUTPUT.format(text=text, kind=kind)] if text else []
    return "".join([*parts, *(_placed(app, docname, path) for path in outcome.figures)])


def _placed(app, docname, path):
    """Copy a figure into the site and refer to it from its page."""
    name = f"{docname.replace('/', '-')}-{path.name}"
    folder = Path(app.outdir, "_images")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, folder / name)
    return FIGURE.format(name=path.stem, src="../" * docname.count("/") + f"_images/{name}")


def setup(app):
    """Add the setting ``run_pages``, names of pages with wildcards."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    app.add_config_value("run_pages", ["first-use", "start", "tutorials/*"], "env", [list])
    app.connect("source-read", _run)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
