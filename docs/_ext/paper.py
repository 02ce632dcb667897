"""Small matters of the page: pictures take its colours, and numbers keep their unit."""

import re
from pathlib import Path

from docutils import nodes

PERCENT = re.compile(r"(?<=\d) (?=%)")


def _inline(app, doctree, _docname):
    """Make pictures in svg part of the page, so that they are dark or light as it is."""
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir, image["uri"])
        if path.suffix == ".svg" and path.is_file():
            text = path.read_text("utf-8")
            image.replace_self(nodes.raw("", f'<div class="picture">{text}</div>', format="html"))


def _unbroken(_app, doctree):
    """Keep "10 %" on one line."""
    for text in list(doctree.findall(nodes.Text)):
        if PERCENT.search(text) and not isinstance(text.parent, nodes.literal_block | nodes.raw):
            text.parent.replace(text, nodes.Text(PERCENT.sub("\N{NO-BREAK SPACE}", text)))


def setup(app):
    """Change pages after they are read, and pictures once their places are known."""
    app.connect("doctree-read", _unbroken)
    app.connect("doctree-resolved", _inline)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
