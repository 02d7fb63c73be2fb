from pathlib import Path

import pytest

from steward.kube.config.kubeconfig import parse_kubeconfig, read_kubeconfigs
from steward.kube.errors import ConfigError

FIRST = """
current-context: ""
clusters: [{name: c, cluster: {server: "https://first", certificate-authority: ca.crt}}]
users: [{name: only-first, user: {tokenFile: ./token}}]
"""
SECOND = """
current-context: two
clusters:
- {name: c, cluster: {server: "https://second", tls-server-name: never-seen}}
- {name: d, cluster: {server: "https://d"}}
contexts: [{name: two, context: {cluster: d, user: u}}]
"""
THIRD = """
current-context: three
contexts: [{name: two, context: {cluster: other}}]
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_first_file_takes_precedence_for_entries_and_current_context(tmp_path: Path) -> None:
    paths = [write(tmp_path, name, text) for name, text in (("1", FIRST), ("2", SECOND), ("3", THIRD))]
    config = read_kubeconfigs(paths)
    assert config.current_context == "two"
    assert config.clusters["c"].server == "https://first"
    assert config.clusters["c"].tls_server_name == ""
    assert config.clusters["d"].server == "https://d"
    assert config.contexts["two"].cluster == "d"
    assert config.files == tuple(str(path) for path in paths)


def test_missing_files_of_a_list_are_passed_over(tmp_path: Path) -> None:
    config = read_kubeconfigs([tmp_path / "missing", write(tmp_path, "1", SECOND)])
    assert config.current_context == "two"


def test_relative_paths_are_relative_to_their_own_file(tmp_path: Path) -> None:
    text = """
    users:
    - name: u
      user:
        client-certificate: certs/u.crt
        client-key: /abs/u.key
        tokenFile: ../token
        exec: {command: ./bin/plugin, apiVersion: v}
    - name: path
      user: {exec: {command: plugin, apiVersion: v}}
    """
    first = write(tmp_path, "a/config", FIRST)
    second = write(tmp_path, "b/config", text)
    config = read_kubeconfigs([first, second])
    user = config.users["u"]
    assert config.clusters["c"].certificate_authority == str(tmp_path / "a" / "ca.crt")
    assert config.users["only-first"].token_file == str(tmp_path / "a" / "token")
    assert user.client_certificate == str(tmp_path / "b/certs/u.crt")
    assert user.client_key == "/abs/u.key"
    assert user.token_file == str(tmp_path / "b/../token")
    assert user.exec is not None
    assert user.exec.command == str(tmp_path / "b/bin/plugin")
    plugin = config.users["path"].exec
    assert plugin is not None
    assert plugin.command == "plugin"


@pytest.mark.parametrize(
    "text", ["", "null", "{}", "kind: Config\napiVersion: v1\nclusters: null\npreferences: {}"]
)
def test_an_empty_file_is_an_empty_config(text: str) -> None:
    assert parse_kubeconfig(text.encode(), Path("c")).is_empty


def test_json_is_read_too() -> None:
    text = b'{"clusters": [{"name": "c", "cluster": {"server": "https://a"}}]}'
    assert parse_kubeconfig(text, Path("c")).clusters["c"].server == "https://a"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clusters: [", "conf is not YAML: line 2, column 1"),
        ("a: b: c", "conf is not YAML: line 1, column 5"),
        ("clusters: 5", r"conf is not a kubeconfig: Expected `array \| null`, got `int` - at `\$.clusters`"),
        ("[1]", "conf is not a kubeconfig: Expected `object`"),
        (
            "users: [{name: a}, {name: a}]",
            "conf has two entries for the user 'a'; remove one",
        ),
    ],
)
def test_a_broken_file_is_named_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_kubeconfig(text.encode(), Path("conf"))


def test_a_broken_line_with_a_token_is_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_kubeconfig(b"users:\n- name: a\n  user: {token: s3cret: x}", Path("conf"))
    assert "s3cret" not in str(caught.value)


def test_a_file_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*: Is a directory"):
        read_kubeconfigs([tmp_path])
