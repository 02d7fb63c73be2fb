"""Lets the tenants operator act as a service account, with the commands of the documents."""

from steward.install.rbac import IMPERSONATION
from tests.cli.support.document_commands import commands_on_page
from tests.support.kubectl import Kubectl

PAGE = "docs/security.md"
NAMESPACE, ACCOUNT = "shop", "shop-deployer"
"""The names in the documents."""


def allow_impersonation(kubectl: Kubectl, namespace: str, account: str, *options: str) -> None:
    """`options`: more arguments of kubectl, such as `--as`."""
    commands = [command for command in commands_on_page(PAGE) if IMPERSONATION in command]
    assert len(commands) == 2
    for command in commands:
        words = command.replace(ACCOUNT, account).split()
        kubectl(*(namespace if word == NAMESPACE else word for word in words[1:]), *options)
