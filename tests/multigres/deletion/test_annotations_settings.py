"""Environment variables of graceful deletion."""

import pytest

from steward.runtime.manager.settings import SettingsError, settings_from

ENVIRONMENT = {
    "DEFAULT_GRACEFUL_SHUTDOWN_PERIOD": "45s",
    "MAX_GRACEFUL_SHUTDOWN_PERIOD": "10m",
    "ETCD_DELETION_PROTECTION_DEFAULT": "disabled",
}


def test_the_environment_variables_have_their_documented_names() -> None:
    configured, default = settings_from(ENVIRONMENT), settings_from({})
    assert (configured.default_graceful_shutdown_period, default.default_graceful_shutdown_period) == (45, 30)
    assert (configured.max_graceful_shutdown_period, default.max_graceful_shutdown_period) == (600, 300)
    assert (configured.etcd_deletion_protection_default, default.etcd_deletion_protection_default) == (
        "disabled",
        "enabled",
    )


@pytest.mark.parametrize(
    ("variable", "text", "cure"),
    [
        ("DEFAULT_GRACEFUL_SHUTDOWN_PERIOD", "soon", "a duration such as 15s or 1m30s"),
        ("DEFAULT_GRACEFUL_SHUTDOWN_PERIOD", "-30s", "a duration such as 15s or 1m30s"),
        ("MAX_GRACEFUL_SHUTDOWN_PERIOD", "a week", "a duration such as 15s or 1m30s"),
        ("ETCD_DELETION_PROTECTION_DEFAULT", "maybe", "enabled or disabled"),
    ],
)
def test_an_invalid_variable_is_named_with_the_cure(variable: str, text: str, cure: str) -> None:
    """The operator's own Deployment is wrong: its rollout stops, and the previous replica keeps running."""
    with pytest.raises(SettingsError) as refused:
        settings_from({variable: text})
    assert variable in str(refused.value)
    assert cure in str(refused.value)
