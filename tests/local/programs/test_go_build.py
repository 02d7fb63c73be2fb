from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.errors import BuildError, CompileFailed, DiskFull, LocalError, RegistryUnreachable
from steward.local.programs.go_build import build_error, go_environment, linker_flags
from tests.local.support.fake_program import fake_program


@pytest.mark.parametrize(
    ("line", "kind", "cure"),
    [
        ('Get "x": dial tcp: lookup x: no such host', RegistryUnreachable, "set GOPROXY"),
        ('Get "x": dial tcp 10.0.0.1:443: i/o timeout', RegistryUnreachable, "set GOPROXY"),
        ("module lookup disabled by GOPROXY=off", RegistryUnreachable, "set GOPROXY"),
        ("reading x: 503 Service Unavailable", RegistryUnreachable, "set GOPROXY"),
        ("write /tmp/x: no space left on device", DiskFull, "make room"),
        ("link: signal: killed", CompileFailed, "memory"),
        ("hello/main.go:3:1: syntax error", CompileFailed, "main.go:3:1"),
    ],
)
def test_output_of_go_becomes_an_error_with_the_cure(
    tmp_path: Path, line: str, kind: type[LocalError], cure: str
) -> None:
    error = build_error(fake_program(tmp_path), ["example.test/hello", line])
    assert type(error) is kind
    assert cure in str(error)
    assert isinstance(error, BuildError | DiskFull)


def test_the_linker_sets_the_variables(tmp_path: Path) -> None:
    assert linker_flags(fake_program(tmp_path)) == "-s -w -X main.version=1.2.3"


def test_settings_that_would_change_what_is_built_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOS", "plan9")
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    monkeypatch.setenv("GOPROXY", "http://mirror.test")
    environment = go_environment()
    assert "GOOS" not in environment
    assert environment["GOFLAGS"] == "-mod=readonly"
    assert environment["GOPROXY"] == "http://mirror.test"
