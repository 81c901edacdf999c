"""One test for a rule over all operations, because a pytest test costs more time than such a rule."""

from collections.abc import Callable, Sequence
from functools import update_wrapper
from inspect import Signature, signature

from mainstay.catalogue import CATALOGUE
from mainstay.kernel.operation import Operation

RuleTest = Callable[..., None]


def for_each(operations: Sequence[Operation]) -> Callable[[RuleTest], RuleTest]:
    """Make one test of a rule for an `operation`; it names each operation that breaks the rule."""

    def combine(rule: RuleTest) -> RuleTest:
        def test(**given: object) -> None:
            broken = []
            for operation in operations:
                try:
                    rule(operation=operation, **given)
                except AssertionError as error:
                    error.add_note(f"of {operation.name}")
                    broken.append(error)
            if broken:
                raise ExceptionGroup(f"{len(broken)} break the rule", broken)

        parameters = signature(rule).parameters.values()
        wanted = Signature([one for one in parameters if one.name != "operation"])
        # pytest reads the fixtures of the test here.
        vars(test)["__signature__"] = wanted
        return update_wrapper(test, rule)

    return combine


EACH_OPERATION = for_each(CATALOGUE.operations)
