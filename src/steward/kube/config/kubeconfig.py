"""Reads and merges kubeconfig files as kubectl does.

For each name, the entry of the first file that has it is used as a whole, and so is the first current-context. Relative
paths are relative to the file that contains them. A file of a list may be missing.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml
from msgspec import Struct
from msgspec.structs import replace

from steward.kube.errors import ConfigError

T = TypeVar("T")


class ExecEnv(Struct):
    name: str
    value: str = ""


class Exec(Struct, rename="camel"):
    command: str = ""
    api_version: str = ""
    args: list[str] | None = None
    env: list[ExecEnv] | None = None
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class Extension(Struct):
    name: str
    extension: Any = None


class Cluster(Struct, rename="kebab"):
    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    extensions: list[Extension] | None = None


class AuthProvider(Struct):
    name: str = ""


class User(Struct, rename="kebab"):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    impersonated: str = msgspec.field(default="", name="as")
    impersonated_uid: str = msgspec.field(default="", name="as-uid")
    impersonated_groups: list[str] | None = msgspec.field(default=None, name="as-groups")
    impersonated_extra: dict[str, list[str]] | None = msgspec.field(default=None, name="as-user-extra")
    auth_provider: AuthProvider | None = None
    exec: Exec | None = None

    def __repr__(self) -> str:
        return "User(...)"


class Context(Struct):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(Struct):
    name: str
    cluster: Cluster | None = None


class _NamedUser(Struct):
    name: str
    user: User | None = None


class _NamedContext(Struct):
    name: str
    context: Context | None = None


class _File(Struct, rename="kebab"):
    current_context: str = ""
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None


class Kubeconfig(Struct, kw_only=True):
    """One file, or several merged ones; every path in it is absolute."""

    current_context: str = ""
    clusters: dict[str, Cluster] = {}
    users: dict[str, User] = {}
    contexts: dict[str, Context] = {}
    files: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.clusters or self.users or self.contexts or self.current_context)


def read_kubeconfigs(paths: Iterable[Path]) -> Kubeconfig:
    """Files that do not exist are skipped."""
    merged = Kubeconfig()
    for path in paths:
        text = _read_text(path)
        if text is not None:
            merged = merge_kubeconfigs(merged, parse_kubeconfig(text, path))
    return merged


def merge_kubeconfigs(first: Kubeconfig, second: Kubeconfig) -> Kubeconfig:
    return Kubeconfig(
        current_context=first.current_context or second.current_context,
        clusters=second.clusters | first.clusters,
        users=second.users | first.users,
        contexts=second.contexts | first.contexts,
        files=first.files + second.files,
    )


def parse_kubeconfig(text: bytes, path: Path) -> Kubeconfig:
    try:
        content = yaml.load(text, Loader=yaml.CSafeLoader)
        parsed = msgspec.convert(content or {}, _File)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML{_position(error)}") from None
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path} is not a kubeconfig: {error}") from None
    folder = path.absolute().parent
    clusters = [(entry.name, entry.cluster or Cluster()) for entry in parsed.clusters or ()]
    users = [(entry.name, entry.user or User()) for entry in parsed.users or ()]
    contexts = [(entry.name, entry.context or Context()) for entry in parsed.contexts or ()]
    return Kubeconfig(
        current_context=parsed.current_context,
        clusters={name: _in_folder(cluster, folder) for name, cluster in _unique(clusters, "cluster", path)},
        users={name: _user_in_folder(user, folder) for name, user in _unique(users, "user", path)},
        contexts=dict(_unique(contexts, "context", path)),
        files=(str(path),),
    )


def _unique(entries: list[tuple[str, T]], what: str, path: Path) -> list[tuple[str, T]]:
    seen: set[str] = set()
    for name, _ in entries:
        if name in seen:
            raise ConfigError(f"{path} has two entries for the {what} {name!r}; remove one")
        seen.add(name)
    return entries


def _in_folder(cluster: Cluster, folder: Path) -> Cluster:
    return replace(cluster, certificate_authority=_absolute(cluster.certificate_authority, folder))


def _user_in_folder(user: User, folder: Path) -> User:
    plugin = user.exec
    if plugin is not None and "/" in plugin.command:
        # A command without a slash is searched in PATH.
        plugin = replace(plugin, command=_absolute(plugin.command, folder))
    return replace(
        user,
        client_certificate=_absolute(user.client_certificate, folder),
        client_key=_absolute(user.client_key, folder),
        token_file=_absolute(user.token_file, folder),
        exec=plugin,
    )


def _absolute(path: str, folder: Path) -> str:
    return str(folder / path) if path else ""


def _read_text(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error


def _position(error: yaml.YAMLError) -> str:
    # The error's own text quotes the line, which may hold a token.
    mark = getattr(error, "problem_mark", None)
    return f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""
