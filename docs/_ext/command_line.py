"""The directive ``{command-line}``: every command with its options, as the program has them."""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from prism.cli._app import make_app


def _literal(text):
    return nodes.literal_block(text, text, language="text")


def _option(parameter, context):
    """Names and help of one option or argument, as ``--help`` says them; hidden ones are None."""
    record = parameter.get_help_record(context)
    if record is None or parameter.name == "help":
        return None
    names, text = record
    term = nodes.term("", "", nodes.literal("", names))
    return nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph("", text)))


def _section(name, command):
    context = command.make_context(f"prism {name}", [], resilient_parsing=True)
    section = nodes.section(ids=[nodes.make_id(f"prism-{name}")])
    section += nodes.title("", f"prism {name}")
    section += nodes.paragraph("", command.help or "")
    section += _literal(command.get_usage(context).removeprefix("Usage: "))
    options = [_option(parameter, context) for parameter in command.get_params(context)]
    section += nodes.definition_list("", *filter(None, options), classes=["options"])
    section += nodes.paragraph("", "Examples:")
    lines = [line.strip() for line in (command.epilog or "").splitlines()]
    section += _literal("\n".join(line for line in lines if line.startswith("prism ")))
    return section


class CommandLine(SphinxDirective):
    """One section for each command."""

    def run(self):
        """The sections, in the order of ``prism --help``."""
        commands = get_command(make_app()).commands
        return [_section(name, command) for name, command in commands.items()]


def setup(app):
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
