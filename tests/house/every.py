"""A rule that holds for every operation is one test: pytest spends more on a test than such a rule takes."""

from collections.abc import Callable, Sequence
from functools import update_wrapper
from inspect import Signature, signature

from mainstay.catalogue import CATALOGUE
from mainstay.kernel.operation import Operation

Rule = Callable[..., None]


def of_each(operations: Sequence[Operation]) -> Callable[[Rule], Rule]:
    """Make a rule for an `operation` one test for all of these; each that breaks it is told by its name."""

    def one_test(rule: Rule) -> Rule:
        def test(**given: object) -> None:
            broken = []
            for operation in operations:
                try:
                    rule(operation=operation, **given)
                except AssertionError as fault:
                    fault.add_note(f"of {operation.name}")
                    broken.append(fault)
            if broken:
                raise ExceptionGroup(f"{len(broken)} break the rule", broken)

        parameters = signature(rule).parameters.values()
        asked = Signature([one for one in parameters if one.name != "operation"])
        # pytest reads here what the test asks for.
        vars(test)["__signature__"] = asked
        return update_wrapper(test, rule)

    return one_test


OPERATION = of_each(CATALOGUE.operations)
