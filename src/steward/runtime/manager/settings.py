"""The settings of `steward run`, declared once: flags, environment variables, defaults and the table in the docs.

A flag `--lease-name` has the variable `STEWARD_LEASE_NAME`; the flag takes precedence. Both are parsed by the same
functions, so they accept the same values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

from msgspec import NODEFAULT, Struct, field, structs

from steward.kube.client.lease import JITTER
from steward.kube.objects.durations import parse_duration
from steward.runtime.manager.connect_to import Forwards, parse_forwards
from steward.runtime.observability.logging import FORMATS, LEVELS
from steward.runtime.partition import Partition

PREFIX = "STEWARD_"


class SettingsError(ValueError):
    """A setting has an invalid value; the message names the setting and what it accepts."""


class SettingSpec(NamedTuple):
    """Help, parser and accepted values of a setting."""

    help: str
    parse: Callable[[str], Any]
    accepts: str
    alias: str = ""
    """A second variable name, without our prefix."""


def _word(text: str) -> str:
    return text.strip()


def _yes_or_no(text: str) -> bool:
    lowered = text.strip().lower()
    if lowered in ("true", "yes", "on", "1"):
        return True
    if lowered in ("false", "no", "off", "0"):
        return False
    raise ValueError


def _seconds(text: str) -> float:
    """`15` (seconds), `15s`, `500ms`, `1m30s`, `2h`."""
    stripped = text.strip()
    return float(stripped) if re.fullmatch(r"\d+(\.\d+)?", stripped) else parse_duration(stripped)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _at_least_zero(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError
    return number


def _workers(text: str) -> dict[str, int]:
    counts = {}
    for part in _names(text):
        name, found, number = part.partition("=")
        if not found or int(number) < 1:
            raise ValueError
        counts[name.strip()] = int(number)
    return counts


def _partition(text: str) -> Partition:
    number, _, total = text.partition("/")
    partition = Partition(int(number), int(total))
    if not 0 <= partition.number < partition.total:
        raise ValueError
    return partition


def _forwards(text: str) -> Forwards:
    return parse_forwards(_names(text))


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.strip() not in choices:
            raise ValueError
        return text.strip()

    return parse


def _text(help_text: str, accepts: str = "text") -> SettingSpec:
    return SettingSpec(help_text, _word, accepts)


def _flag(help_text: str) -> SettingSpec:
    return SettingSpec(help_text, _yes_or_no, "true or false")


def _duration(help_text: str) -> SettingSpec:
    return SettingSpec(help_text, _seconds, "a duration such as 15s or 1m30s")


def _choice(help_text: str, *choices: str) -> SettingSpec:
    return SettingSpec(help_text, _one_of(*choices), " or ".join(choices))


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _count(help_text: str) -> SettingSpec:
    return SettingSpec(help_text, _at_least_one, "a number, 1 or more")


def _number(help_text: str) -> SettingSpec:
    return SettingSpec(help_text, _at_least_zero, "a number, 0 or more")


_ADDRESS = "HOST:PORT, :PORT, or 0 for none"


class Settings(Struct, frozen=True, kw_only=True):
    """All settings of `steward run`."""

    kubeconfig: Annotated[str, _text("Kubeconfig file. Default: KUBECONFIG, ~/.kube/config, in-cluster.")] = (
        ""
    )
    context: Annotated[str, _text("Context of the kubeconfig. Default: its current one.")] = ""
    namespace: Annotated[
        str,
        _text("The operator's own namespace. Default: POD_NAMESPACE, the service account's, the context's."),
    ] = ""
    namespaces: Annotated[
        tuple[str, ...], SettingSpec("Namespaces to watch. Default: all.", _names, "names, by comma")
    ] = ()
    partition: Annotated[
        Partition,
        SettingSpec(
            "The partition N of M of the tenants that this process manages.", _partition, "N/M, N from 0"
        ),
    ] = field(default=Partition(), name="shard")
    connect_to: Annotated[
        Forwards,
        SettingSpec(
            "Connect to another address instead of one in the cluster; @FILE: one per line, reloaded when it changes.",
            _forwards,
            "HOST:PORT:ADDRESS:PORT, by comma",
        ),
    ] = ()
    workers: Annotated[
        dict[str, int], SettingSpec("Workers of a controller.", _workers, "CONTROLLER=NUMBER, by comma")
    ] = {}
    registry_concurrency: Annotated[int, _count("How many TenantRegistries are reconciled at once.")] = 3
    template_concurrency: Annotated[int, _count("How many TenantTemplates are reconciled at once.")] = 5
    tenant_concurrency: Annotated[
        int,
        _count(
            "How many Tenants are reconciled at once, and as many more that need a repair or became ready."
        ),
    ] = 10
    sqlite_root: Annotated[
        str,
        _text(
            "Directory with the files of sqlite registries. Default: none, such registries are not allowed."
        ),
    ] = ""
    template_scope: Annotated[
        str,
        _choice(
            "What templates without a serviceAccountName may write: own: to their namespace, those that their Tenants "
            "created, and those labelled for it; cluster: everywhere, with the operator's rights.",
            "own",
            "cluster",
        ),
    ] = "own"
    no_cross_namespace: Annotated[
        bool, _flag("Templates may not name a targetNamespace other than their own.")
    ] = False
    require_service_account: Annotated[
        bool, _flag("Only templates with a serviceAccountName are applied.")
    ] = False
    allow_kinds: Annotated[
        tuple[str, ...],
        SettingSpec(
            "Kinds that templates may contain although they grant permissions: ClusterRole and the like.",
            _names,
            "kinds, by comma",
        ),
    ] = ()
    default_graceful_shutdown_period: Annotated[
        float,
        _duration(
            "Graceful shutdown period of gateways, orchestrators and etcd; poolers get twice as long."
        )._replace(alias="DEFAULT_GRACEFUL_SHUTDOWN_PERIOD"),
    ] = 30.0
    max_graceful_shutdown_period: Annotated[
        float,
        _duration("The longest graceful shutdown period that an annotation may set.")._replace(
            alias="MAX_GRACEFUL_SHUTDOWN_PERIOD"
        ),
    ] = 300.0
    etcd_deletion_protection_default: Annotated[
        str,
        _choice(
            "Whether a topology server is protected from deletion while other objects depend on it.",
            "enabled",
            "disabled",
        )._replace(alias="ETCD_DELETION_PROTECTION_DEFAULT"),
    ] = "enabled"
    protect_clusters: Annotated[
        bool, _flag("Whether clusters without spec.deletionProtection are protected from deletion.")
    ] = False
    max_concurrent_cluster_updates: Annotated[
        int, _count("How many clusters move at once to the pods that a new version of the operator builds.")
    ] = 1
    leader_elect: Annotated[bool, _flag("Only the replica that holds the lease runs controllers.")] = True
    lease_name: Annotated[
        str, _text("Name of the lease. Default: the operator's name, with its partition (--shard).")
    ] = ""
    lease_duration: Annotated[float, _duration("How long a lease is valid without renewal.")] = 15.0
    renew_deadline: Annotated[float, _duration("How long the leader tries to renew before it gives up.")] = (
        10.0
    )
    retry_period: Annotated[float, _duration("How often the lease is checked.")] = 2.0
    on_lease_lost: Annotated[
        str, _choice("What a leader does when it loses the lease.", "exit", "standby")
    ] = "exit"
    shutdown_grace: Annotated[float, _duration("How long running reconciles may continue after SIGTERM.")] = (
        15.0
    )
    metrics_bind_address: Annotated[str, _text("Where metrics are served.", _ADDRESS)] = ":8443"
    metrics_secure: Annotated[
        bool,
        _flag(
            "Serve metrics over HTTPS to clients that the API server authorizes; false: plain HTTP, loopback only."
        ),
    ] = True
    metrics_cert_path: Annotated[
        str, _text("Directory of the metrics' certificate. Default: a self-signed one, made at start.")
    ] = ""
    metrics_cert_name: Annotated[str, _text("Certificate file in that directory.")] = "tls.crt"
    metrics_cert_key: Annotated[str, _text("Key file in that directory.")] = "tls.key"
    health_probe_bind_address: Annotated[str, _text("Where /healthz and /readyz are served.", _ADDRESS)] = (
        ":8081"
    )
    webhooks: Annotated[
        str, _choice("auto: on in a cluster, and anywhere with a webhook-url.", "auto", "on", "off")
    ] = "auto"
    webhook_bind_address: Annotated[str, _text("Where admission reviews are answered.", _ADDRESS)] = ":9443"
    webhook_cert_path: Annotated[
        str,
        _text(
            "Directory where the webhooks' certificate is mounted; without a mount the operator writes a copy. With a "
            "webhook-url: written there."
        ),
    ] = "/var/run/secrets/webhook"
    webhook_service: Annotated[
        str, _text("Service by which the API server reaches the webhooks. Default: the operator's own.")
    ] = ""
    webhook_url: Annotated[
        str,
        _text("For an operator outside the cluster: register the webhooks at this URL.", "https://HOST:PORT"),
    ] = ""
    kube_api_qps: Annotated[float, _number("Requests a second to the API server; 0 is no limit.")] = 0.0
    kube_api_burst: Annotated[float, _number("Requests above that rate that may be sent at once.")] = 0.0
    log_level: Annotated[str, _choice("The lowest level that is logged.", *LEVELS)] = "info"
    log_format: Annotated[str, _choice("auto: text on a terminal, JSON elsewhere.", *FORMATS)] = "auto"


class Setting(NamedTuple):
    """A setting: its field, its name in flags and variables, and its default."""

    field: str
    name: str
    spec: SettingSpec
    default: Any

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    @property
    def variables(self) -> tuple[str, ...]:
        """The first that is set takes precedence."""
        return (self.variable, self.spec.alias) if self.spec.alias else (self.variable,)

    def read(self, text: str, spelled: str) -> Any:
        try:
            return self.spec.parse(text)
        except ValueError:
            raise SettingsError(f"{spelled}={text}: give {self.spec.accepts}") from None


def all_settings() -> tuple[Setting, ...]:
    hints = get_type_hints(Settings, include_extras=True)
    return tuple(
        Setting(info.name, info.encode_name, get_args(hints[info.name])[1], _default(info))
        for info in structs.fields(Settings)
    )


def _default(info: structs.FieldInfo) -> Any:
    return info.default if info.default is not NODEFAULT else info.default_factory()


def settings_from(environ: Mapping[str, str], flags: Mapping[str, str] | None = None) -> Settings:
    """Settings from variables and flags; a flag takes precedence, and an empty variable counts as unset."""
    settings = Settings(**dict(_given(environ, flags or {})))
    return check(settings)


def _given(environ: Mapping[str, str], flags: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for setting in all_settings():
        if setting.name in flags:
            yield setting.field, setting.read(flags[setting.name], setting.flag)
        elif known := next((name for name in setting.variables if environ.get(name)), ""):
            yield setting.field, setting.read(environ[known], known)


def check(settings: Settings) -> Settings:
    """Rejects durations that contradict each other."""
    if not settings.lease_duration > settings.renew_deadline > JITTER * settings.retry_period > 0:
        raise SettingsError(
            f"lease-duration must be longer than renew-deadline, and that longer than {JITTER} x retry-period: "
            f"{settings.lease_duration:g} s, {settings.renew_deadline:g} s, {settings.retry_period:g} s"
        )
    return settings


def table() -> str:
    """The table of the docs, in Markdown."""
    rows = ["| Flag | Variable | Default | Takes | Meaning |", "|---|---|---|---|---|"]
    rows += [
        f"| `{setting.flag}` | {_variables(setting)} | {_format_default(setting.default)} | {setting.spec.accepts} "
        f"| {setting.spec.help} |"
        for setting in all_settings()
    ]
    return "\n".join(rows) + "\n"


def _variables(setting: Setting) -> str:
    return " or ".join(f"`{name}`" for name in setting.variables)


def _format_default(default: Any) -> str:
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, Partition):
        return f"`{default.number}/{default.total}`"
    if isinstance(default, float):
        return f"`{default:g}`"
    return f"`{default}`" if default else ""
