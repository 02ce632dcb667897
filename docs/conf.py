"""Settings of the documentation site; `make docs` builds it into docs/_build/html.

The built site asks nothing of the network: formulas are MathML, fonts are those of the reader, and
styles and scripts are copied into it.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

from prism import __version__  # noqa: E402 - the version of the package beside these pages

project = "PRISM"
author = "The PRISM developers"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "command_line",
    "docstrings",
    "mathml",
    "paper",
    "runnable",
]
exclude_patterns = ["_build", "_ext"]
nitpicky = True
# Types of arguments are words for people ("array (channels,)"), and numpy is not here to link to;
# every reference into the package itself must lead somewhere.
nitpick_ignore_regex = [("py:.*", r"(?!prism\.).*")]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_url_schemes = ["http", "https", "mailto"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = "PRISM"
html_static_path = ["_static"]
html_css_files = ["prism.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"footer_icons": [], "top_of_page_buttons": []}
