"""Formulas as MathML, set when the site is built: no script and no font is fetched to read them."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def to_mathml(latex, display="inline"):
    """Set one formula; several lines are aligned at their ampersands."""
    lines = latex.strip()
    if display == "block" and r"\\" in lines and r"\begin" not in lines:
        lines = rf"\begin{{aligned}}{lines}\end{{aligned}}"
    return convert(lines, display=display)


def _inline(translator, node):
    translator.body.append(to_mathml(node.astext()))
    raise SkipNode


def _block(translator, node):
    number = ""
    if node["number"]:
        number = f'<a class="eqno" href="#{node["ids"][0]}">({node["number"]})</a>'
    opening = translator.starttag(node, "div", CLASS="math")
    translator.body.append(f"{opening}{to_mathml(node.astext(), 'block')}{number}</div>\n")
    raise SkipNode


def setup(app):
    """Register the renderer that conf.py names."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
