"""A tiny Go module that tests build instead of Kubernetes: a second instead of minutes."""

from __future__ import annotations

from pathlib import Path

from steward.local.programs.programs import Program

MAIN = """package main

import (
	"fmt"
	"os"
	"path/filepath"
)

var version = "unset"

func main() { fmt.Println(filepath.Base(os.Args[0]), version) }
"""


def fake_program(directory: Path, main: str = MAIN, require: str = "") -> Program:
    source = directory / "source"
    (source / "hello").mkdir(parents=True, exist_ok=True)
    (source / "go.mod").write_text(f"module example.test/hello\n\ngo 1.21\n{require}")
    (source / "hello" / "main.go").write_text(main)
    return Program(
        name="hello",
        version="1.2.3",
        source=source,
        package="./hello",
        names=("hello", "greet"),
        variables=(("main.version", "1.2.3"),),
        disk=0,
    )
