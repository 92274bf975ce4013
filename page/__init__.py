"""The plan page: runs of this server in a browser. It only reads; what acts is LangGraph's own API."""
