"""What built-in tools are configured with; read from the context once per run."""

from dataclasses import dataclass

from state.context import Context, env


@dataclass(frozen=True)
class ToolSettings:
    """Folders and servers that the built-in tools may use."""

    root: str = "."
    documents: str = "."
    smtp: str | None = None
    home: str = ".forethought"


def tool_settings(context: Context) -> ToolSettings:
    """The settings of the built-in tools for one run."""
    return ToolSettings(
        root=context.root,
        documents=context.documents or context.root,
        smtp=context.smtp or env("SMTP_URL"),
        home=context.home_folder(),
    )
