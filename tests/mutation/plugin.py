"""A pytest plugin that imports a mutant in place of its module: no file of the tree changes."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

MODULE_VARIABLE, FILE_VARIABLE = "STEWARD_MUTATED_MODULE", "STEWARD_MUTANT_FILE"


class MutantFinder(importlib.abc.MetaPathFinder):
    def __init__(self, module: str, file: Path) -> None:
        self._module = module
        self._file = file

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._module:
            return None
        return importlib.util.spec_from_file_location(fullname, self._file)


if MODULE_VARIABLE in os.environ:
    sys.meta_path.insert(0, MutantFinder(os.environ[MODULE_VARIABLE], Path(os.environ[FILE_VARIABLE])))
