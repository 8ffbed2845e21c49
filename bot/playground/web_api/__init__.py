"""The Web API of the local Slack, one file per family of methods; `dispatch` receives the requests."""
