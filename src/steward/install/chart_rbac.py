"""The template of the Helm chart for the roles of an operator."""

from steward.install.helm_tokens import NOTE, HelmTokens, block
from steward.install.operators import TENANTS, ShippedOperator
from steward.install.rbac import (
    impersonation_roles,
    namespace_bindings,
    namespaced_operator_roles,
    operator_roles,
)
from steward.install.values import ImpersonatedAccounts, Values


def rbac_template(operator: ShippedOperator) -> str:
    """Roles of an operator of all namespaces or of some, and of the accounts that templates may name."""
    tokens, chosen = HelmTokens(), f".Values.{operator.short_name}.namespaces"
    values = Values(namespace=tokens.value("$.Release.Namespace"))
    item = tokens.json(".")
    blocks = [
        block(f"if not {chosen}", operator_roles(operator, values)),
        block(f"if {chosen}", namespaced_operator_roles(operator, values)),
        block(f"range {chosen}", namespace_bindings(operator, item, values)),
        *([_impersonation_block(values, tokens)] if operator == TENANTS else []),
    ]
    body = tokens.substitute("".join(blocks))
    return f"{NOTE}{{{{- if .Values.{operator.short_name}.enabled }}}}\n{body}{{{{- end }}}}\n"


def _impersonation_block(values: Values, tokens: HelmTokens) -> str:
    accounts = ImpersonatedAccounts(tokens.json(".namespace"), ["all"])
    role, binding = impersonation_roles(accounts, values)
    role["rules"][0]["resourceNames"] = tokens.json(".serviceAccounts")
    return block("range .Values.tenants.impersonate", [role, binding])
