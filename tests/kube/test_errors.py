import re

from steward.kube import errors


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = re.findall(r"^    ([│ ]*)(?:[├└]── )?(\w+) ", (errors.__doc__ or "") + "\n", re.MULTILINE)
    classes = {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and value.__module__ == errors.__name__
    }
    parents: dict[int, str] = {0: "KubeError"}
    assert {name for _, name in drawn} | {"KubeError"} == set(classes)
    for indent, name in drawn:
        depth = len(indent) // 4 + 1
        assert classes[name].__bases__ == (classes[parents[depth - 1]],), name
        parents[depth] = name


def test_every_error_is_caught_by_the_root() -> None:
    assert issubclass(errors.DisruptionBudget, errors.KubeError)
    assert not issubclass(errors.KubeError, OSError)
