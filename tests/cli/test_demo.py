"""`steward up` with operators and sample, the commands that it suggests, and the pages about it.

All tests share one cluster: they run in order, and each leaves the sample as the next one expects it.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from steward.cli.main import ExitCode
from steward.cli.next_steps import CHANGE_STEPS
from steward.local.settings import OPERATOR_SERVICES, Layout
from tests.cli.support.document_commands import commands_on_page, pages_with_commands, runs_on_sample
from tests.cli.support.shell import Shell, read_until
from tests.cli.support.shop import Shop
from tests.local.support.processes import processes_using
from tests.support.paths import ROOT

pytestmark = [pytest.mark.timeout(1200), pytest.mark.needs_server]

PAGES = ("docs/first-tenants.md", "docs/first-cluster.md")
COMMAND = ".venv/bin/steward "


def other_commands(page: str) -> list[str]:
    commands = (command for command in commands_on_page(page) if runs_on_sample(command))
    return [command for command in commands if not command.startswith(COMMAND)]


OTHER_PAGES = [page for page in pages_with_commands() if other_commands(page)]
BROKEN_CLUSTER = {
    "apiVersion": "multigres.com/v1alpha1",
    "kind": "MultigresCluster",
    "metadata": {"name": "refused", "namespace": "demo"},
    "spec": {"cells": [{"zone": "z1"}], "templateDefaults": {"cellTemplate": "gone"}},
}


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    shell = Shell(tmp_path_factory.mktemp("first") / "cluster")
    yield shell
    shell.run("down", "--purge")


@pytest.fixture(scope="module")
def up(shell: Shell) -> str:
    """The output of the first `up`."""
    done = shell.run("up", "--detach")
    assert done.returncode == ExitCode.DONE, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def shop(up: str, shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    shop = Shop(tmp_path_factory.mktemp("shop") / "files", shell.directory)
    shop.create()
    return shop


@pytest.fixture(scope="module")
def ready_shop(shop: Shop) -> Shop:
    shop.wait_until_ready()
    return shop


def pids(shell: Shell) -> dict[str, int]:
    services = Layout(shell.directory).all_services()
    return {each.name: json.loads(each.pidfile.read_text())["pid"] for each in services}


def commands_of_sample_pages() -> list[str]:
    return [command.removeprefix(COMMAND) for page in PAGES for command in commands_on_page(page)]


def test_every_command_about_the_sample_is_on_a_page_that_is_run() -> None:
    about = [
        command
        for page in pages_with_commands()
        for command in commands_on_page(page)
        if command.startswith(COMMAND)
    ]
    assert {each.removeprefix(COMMAND) for each in about} <= set(commands_of_sample_pages())


def test_progress_of_both_trees_is_printed_as_lines_without_a_terminal(up: str) -> None:
    assert re.search(r"^ *\d+\.\d s  MultigresCluster demo/orders: 3 Cell ready$", up, re.MULTILINE)
    assert re.search(r"^ *\d+\.\d s  TenantRegistry demo/customers: 24 Tenant ready$", up, re.MULTILINE)
    assert "MultigresCluster demo/orders is ready" in up
    assert "TenantRegistry demo/customers is ready" in up
    assert "\x1b" not in up


def test_five_commands_are_suggested_and_the_pages_run_each_of_them(up: str) -> None:
    run = commands_of_sample_pages()
    assert len(CHANGE_STEPS) == 5
    for step in CHANGE_STEPS:
        assert step.verb in up
        assert step.verb in run


def test_the_operators_act_under_their_own_accounts_alone(up: str, shell: Shell) -> None:
    who: dict[str, set[str]] = {}
    with Layout(shell.directory).audit_log.open() as log:
        for line in log:
            call = json.loads(line)
            who.setdefault(call.get("userAgent", "").partition("/")[0], set()).add(call["user"]["username"])
    for operator in ("multigres-operator", "tenant-operator"):
        assert who[operator] == {f"system:serviceaccount:steward-system:{operator}"}


def test_the_webhooks_are_called(shop: Shop, shell: Shell) -> None:
    done = subprocess.run(
        [*shell._command("kubectl"), "create", "--dry-run=server", "-f", "-"],
        env=shell.environment,
        input=json.dumps(BROKEN_CLUSTER),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "CellTemplate 'gone' does not exist" in done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_works_when_pasted(up: str, shell: Shell, page: str) -> None:
    program = f"{shlex.quote(sys.executable)} -m steward.cli.main "
    commands = [command for command in commands_on_page(page) if command.startswith(COMMAND)]
    assert len(commands) > 5
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command.replace(COMMAND, program)],
            env=shell.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", OTHER_PAGES)
def test_every_command_of_another_page_works_when_pasted(ready_shop: Shop, page: str) -> None:
    for command in other_commands(page):
        ready_shop.run_document_command(command)


def test_a_second_up_changes_nothing(up: str, shell: Shell) -> None:
    shell.run("sample", "deactivate", "cobalt")
    before = pids(shell)
    again = shell.run("up", "--detach")
    assert "is ready at https://127.0.0.1:" in again.stdout
    assert pids(shell) == before
    assert re.search(r"^cobalt +basic +inactive", shell.run("sample", "list").stdout, re.MULTILINE)


def test_down_ends_everything(up: str, shell: Shell) -> None:
    down = shell.run("down")
    assert down.returncode == ExitCode.DONE
    assert processes_using(shell.directory) == set()


def test_bare_starts_kubernetes_without_operators(up: str, shell: Shell) -> None:
    bare = shell.run("up", "--bare", "--detach")
    assert bare.returncode == ExitCode.DONE, bare.stderr
    assert "Try:" not in bare.stdout
    assert not any(Layout(shell.directory).service(name).is_running() for name in OPERATOR_SERVICES)
    left = shell.run("kubectl", "get", "validatingwebhookconfigurations", "-o", "name")
    assert left.stdout == ""


def test_down_ends_an_up_that_is_not_done_yet(up: str, shell: Shell) -> None:
    with shell.start("up") as again:
        read_until(again, "starting data-plane")
        assert shell.run("down").returncode == ExitCode.DONE
        read_until(again, "stopped by `steward down`")
        assert again.wait(timeout=120) == ExitCode.DONE
    assert processes_using(shell.directory) == set()
