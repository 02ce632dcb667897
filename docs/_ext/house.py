"""Pictures in svg become part of the page, so that they take its colours, dark or light."""

from pathlib import Path

from docutils import nodes


def _inline(app, doctree, _docname):
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir, image["uri"])
        if path.suffix == ".svg" and path.is_file():
            text = path.read_text("utf-8")
            image.replace_self(nodes.raw("", f'<div class="picture">{text}</div>', format="html"))


def setup(app):
    """Replace the images once their places are known."""
    app.connect("doctree-resolved", _inline)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
