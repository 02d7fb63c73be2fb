"""The template and the options of the scenario with a large fleet."""

import msgspec
from bench.measuring.options import read_options
from bench.tenants_fleet import DEFAULT, light_template

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.validation.template import validate_template


def test_the_template_is_valid_and_has_five_objects_without_pods() -> None:
    made = light_template("7")
    spec = msgspec.convert(made["spec"], TenantTemplateSpec)
    assert validate_template(spec, "hermetic") == []
    lists = {name: found for name, found in made["spec"].items() if isinstance(found, list)}
    assert sum(map(len, lists.values())) == 5
    [app] = lists["deployments"]
    assert (app["spec"]["spec"]["replicas"], app["spec"]["spec"]["paused"]) == (0, True)
    assert lists["configMaps"][0]["spec"]["data"]["version"] == "7"


def test_numbers_of_processes_can_be_chosen() -> None:
    assert read_options("tenants_fleet", [], DEFAULT).processes == (1, 2, 4)
    assert read_options("tenants_fleet", ["--processes", "1,3"], DEFAULT).processes == (1, 3)
