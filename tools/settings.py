"""What built-in tools are configured with; read from the context once per run."""

from dataclasses import dataclass

from state.context import Context, env


@dataclass(frozen=True)
class ToolSettings:
    """Folders and servers that the built-in tools may use; keys are not here, they stay in the environment."""

    root: str = "."
    documents: str = "."
    smtp: str | None = None
    home: str = ".forethought"
    private_hosts: tuple[str, ...] = ()
    sql: str | None = None
    sql_destructive: bool = False
    weather_url: str = "https://api.open-meteo.com"
    geocoding_url: str = "https://geocoding-api.open-meteo.com"
    search_url: str = "https://google.serper.dev"
    news_url: str = "https://api.gdeltproject.org"
    finance_url: str = "https://www.alphavantage.co"


def tool_settings(context: Context) -> ToolSettings:
    """The settings of the built-in tools for one run."""
    return ToolSettings(
        root=context.root,
        documents=context.documents or context.root,
        smtp=context.smtp or env("SMTP_URL"),
        home=context.home_folder(),
        private_hosts=tuple(context.private_hosts),
        sql=context.sql or env("FORETHOUGHT_SQL"),
        sql_destructive=context.sql_destructive,
        weather_url=env("FORETHOUGHT_WEATHER_URL") or ToolSettings.weather_url,
        geocoding_url=env("FORETHOUGHT_GEOCODING_URL") or ToolSettings.geocoding_url,
        search_url=env("FORETHOUGHT_SEARCH_URL") or ToolSettings.search_url,
        news_url=env("FORETHOUGHT_NEWS_URL") or ToolSettings.news_url,
        finance_url=env("FORETHOUGHT_FINANCE_URL") or ToolSettings.finance_url,
    )
