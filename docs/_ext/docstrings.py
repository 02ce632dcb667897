"""Docstrings on their way into the reference: citations become links, plain words stay words."""

import re
from collections import _tuplegetter

from docutils import nodes
from sphinx.addnodes import pending_xref

CITED = re.compile(r"THEORY (?:\((\d)\)|§(\d))")


def link(match):
    """Refer to the label that theory.md gives the cited equation, "(3)", or section, "§4"."""
    number, section = match.groups()
    if number:
        return f":ref:`theory <theory>` :eq:`theory-{number}`"
    return f":ref:`theory §{section} <theory-section-{section}>`"


def _cite(_app, what, _name, _object, _options, lines):
    lines[:] = [CITED.sub(link, line) for line in lines]
    types = [line for line in lines if line.startswith(":type: ")]
    if what == "property" and types:
        # napoleon takes what stands before a colon for a type: put the sentence together again
        lines.remove(types[0])
        lines[0] = f"{types[0].removeprefix(':type: ')}: {lines[0]}"


def _skip(_app, _what, _name, member, skip, _options):
    """Fields of a named tuple are described with the tuple."""
    return True if isinstance(member, _tuplegetter) else skip


def _plain(_app, doctree):
    """Keep "array (modes, channels)" from being taken for references to members of that name."""
    for reference in list(doctree.findall(pending_xref)):
        target = reference["reftarget"]
        if reference["refdomain"] == "py" and "." not in target and target == target.lower():
            text = nodes.literal if reference["reftype"] == "obj" else nodes.inline
            reference.replace_self(text("", reference.astext()))
    for name in doctree.findall(nodes.field_name):
        if name.astext() == "Variables":
            name.children = [nodes.Text("Attributes")]


def setup(app):
    """Connect to what autodoc reads and to the pages it makes."""
    app.connect("autodoc-process-docstring", _cite, priority=900)  # after napoleon
    app.connect("autodoc-skip-member", _skip)
    app.connect("doctree-read", _plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
