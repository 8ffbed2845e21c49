"""The part of the configuration file that names sources of evidence: logs, deploys, vendors' status pages.

    [logs.loki]                          # any name; the brief calls the source by it
    kind = "loki"                        # or "journald", "files"
    url = "http://loki:3100"
    token_env = "LOKI_TOKEN"             # the variable that holds the key (or <NAME>_FILE); never the key itself
    selector = { app = "{service}" }     # what belongs to a service that lists nothing of its own

    [deploys.github]
    kind = "github"                      # or "argocd"
    token_env = "GITHUB_TOKEN"

    [vendors.razorpay]
    status_page = "https://status.razorpay.com"

    [services.checkout-api]
    repository = "acme/checkout"         # for kind "github"
    argocd = "checkout-prod"             # for kind "argocd"
    logs.loki = { app = "checkout" }     # labels (Loki) or fields (journald), or file patterns
    logs.files = ["checkout/*.jsonl"]

Must not ask a source, and must not hold a key: only where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from bot.adapters.evidence.addresses import find_server_problem

SourceName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=2, max_length=40, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{1,39}$"
    ),
]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
LabelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
LabelValue = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\x00-\x1f]*$")]
Repository = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$")
]
ArgoApplication = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
ChannelId = Annotated[str, StringConstraints(pattern=r"^[CG][A-Z0-9]{2,20}$")]
Seconds = Annotated[float, Field(gt=0, le=30)]
_TAGS = frozenset({"loki", "journald", "files", "github", "argocd", "labels", "patterns", "[key]"})
# where pydantic puts the name of the kind that it chose, behind the source's own name
_TAG_AT = {"logs": 2, "deploys": 2, "services": 4}


def _check_address(url: str) -> str:
    if problem := find_server_problem(url, has_key=False):
        raise ValueError(f"{url[:100]} {problem}")
    return url.rstrip("/")


def _check_pattern(pattern: str) -> str:
    parts = Path(pattern).parts
    if Path(pattern).is_absolute() or ".." in parts:
        raise ValueError("is a pattern below the source's folder: no leading / and no ..")
    if not parts or any("**" in part for part in parts):
        raise ValueError("is no pattern such as checkout/*.jsonl (** is not taken: it may walk a whole disk)")
    return pattern


def _check_absolute(folder: Path) -> Path:
    if not folder.is_absolute():
        raise ValueError("must be a whole path, from /")
    return folder


def format_key(place: Sequence[int | str]) -> str:
    """Format a place in the file as its reader would write it."""
    tag_at = _TAG_AT.get(str(place[0])) if place else None
    parts = [str(part) for n, part in enumerate(place) if part != "[key]" and not (n == tag_at and part in _TAGS)]
    return ".".join(parts)


def _as_list(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Url = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500), AfterValidator(_check_address)]
Folder = Annotated[Path, AfterValidator(_check_absolute)]
LabelFilter = dict[LabelName, Annotated[tuple[LabelValue, ...], BeforeValidator(_as_list)]]
FilePatterns = Annotated[
    tuple[Annotated[str, StringConstraints(min_length=1, max_length=300), AfterValidator(_check_pattern)], ...],
    BeforeValidator(_as_list),
]

LogsOfService = Annotated[
    Annotated[LabelFilter, Tag("labels")] | Annotated[FilePatterns, Tag("patterns")],
    Discriminator(lambda given: "labels" if isinstance(given, Mapping) else "patterns"),
]


class _SourceEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _ServerEntry(_SourceEntry):
    """A server: its address, where its key is, and how long it may take."""

    url: Url
    token_env: Variable | None = None
    timeout_s: Seconds = 3.0


class LokiEntry(_ServerEntry):
    """`[logs.<name>] kind = "loki"`."""

    kind: Literal["loki"]
    # sent as X-Scope-OrgID
    tenant: LabelValue | None = None
    selector: LabelFilter = {}
    # LogQL behind the selector
    filter: Annotated[str, StringConstraints(max_length=500)] | None = None


class JournaldEntry(_ServerEntry):
    """`[logs.<name>] kind = "journald"`: systemd-journal-gatewayd."""

    kind: Literal["journald"]
    selector: LabelFilter = {}
    # those of syslog, 0 to 7
    priorities: tuple[Annotated[int, Field(ge=0, le=7)], ...] = (0, 1, 2, 3)


class FilesEntry(_SourceEntry):
    """`[logs.<name>] kind = "files"`: JSON lines below `folder`."""

    kind: Literal["files"]
    folder: Folder
    # symbolic links may lead out of `folder` only into these
    links_into: tuple[Folder, ...] = ()


class GithubEntry(_ServerEntry):
    """`[deploys.<name>] kind = "github"`."""

    kind: Literal["github"]
    url: Url = "https://api.github.com"


class ArgoEntry(_ServerEntry):
    """`[deploys.<name>] kind = "argocd"`."""

    kind: Literal["argocd"]


LogsEntry = Annotated[LokiEntry | JournaldEntry | FilesEntry, Field(discriminator="kind")]
DeploysEntry = Annotated[GithubEntry | ArgoEntry, Field(discriminator="kind")]


class DeployPostsEntry(_SourceEntry):
    """`[deploy_posts]`: channels whose deploy posts are read. Only service, version, environment and time of a post are
    stored."""

    channels: tuple[ChannelId, ...] = ()


class VendorSources(_SourceEntry):
    """The part of `[vendors.<name>]` about sources."""

    status_page: Url | None = None


class ServiceSources(_SourceEntry):
    """The part of `[services.<name>]` about sources."""

    repository: Repository | None = None
    argocd: ArgoApplication | None = None
    # by the name of the source
    logs: Mapping[SourceName, LogsOfService] = {}


class SourcesConfiguration(_SourceEntry):
    """The tables of sources in the file."""

    logs: Mapping[SourceName, LogsEntry] = {}
    deploys: Mapping[SourceName, DeploysEntry] = {}
    deploy_posts: DeployPostsEntry = DeployPostsEntry()

    @model_validator(mode="after")
    def _check_service_sources(self) -> SourcesConfiguration:
        """Check that every source that a service names exists and accepts what the service gives it."""
        services: Mapping[str, ServiceSources] = getattr(self, "services", {})
        for service, entry in services.items():
            for source, given in entry.logs.items():
                if problem := _find_misfit(self.logs.get(source), given):
                    raise ValueError(f"services.{service}.logs.{source}: {problem}")
        return self


def _find_misfit(entry: LokiEntry | JournaldEntry | FilesEntry | None, given: object) -> str | None:
    if entry is None:
        return "there is no [logs] source of that name"
    if isinstance(entry, FilesEntry) is isinstance(given, dict):
        wanted = (
            'file patterns such as ["checkout/*.jsonl"]'
            if isinstance(entry, FilesEntry)
            else 'a table such as { app = "checkout" }'
        )
        return f"a source of kind {entry.kind} takes {wanted}"
    return None
