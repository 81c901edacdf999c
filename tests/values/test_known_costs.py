import pytest

from mainstay.values.known_costs import CostedLine, KnownCosts, split_known_costs


@pytest.mark.parametrize(
    ("lines", "nets", "known"),
    [
        ([], {}, KnownCosts(0, 0, 0)),
        ([CostedLine("a", 1000, has_cost=True)], {"a": 1000}, KnownCosts(1000, 0, 0)),
        (
            [CostedLine("a", 1000, has_cost=True), CostedLine("a", 500, has_cost=False)],
            {"a": 1500},
            KnownCosts(1000, 500, 1),
        ),
        # A discount of the whole, and tax within the prices, are spread alike over the lines of a rate.
        (
            [CostedLine("a", 1000, has_cost=True), CostedLine("a", 500, has_cost=False)],
            {"a": 1350},
            KnownCosts(900, 450, 1),
        ),
        (
            [CostedLine("a", 1200, has_cost=False), CostedLine("b", 500, has_cost=True)],
            {"a": 1000, "b": 500},
            KnownCosts(500, 1000, 1),
        ),
        # What deducts an earlier invoice has neither cost nor profit.
        (
            [CostedLine("a", 1000, has_cost=True), CostedLine("a", -400, has_cost=False, deducted_net=-400)],
            {"a": 600},
            KnownCosts(1000, 0, 0),
        ),
        # What brings nothing needs no cost.
        ([CostedLine("a", 0, has_cost=False), CostedLine("a", 100, has_cost=True)], {"a": 100}, KnownCosts(100, 0, 0)),
        # Lines that cancel each other out, and a document below nothing.
        (
            [CostedLine("a", 100, has_cost=True), CostedLine("a", -100, has_cost=False)],
            {"a": 0},
            KnownCosts(100, -100, 1),
        ),
        (
            [CostedLine("a", -300, has_cost=True), CostedLine("a", -100, has_cost=False)],
            {"a": -360},
            KnownCosts(-270, -90, 1),
        ),
    ],
)
def test_the_net_amounts_are_divided_by_whether_the_cost_is_known(
    lines: list[CostedLine], nets: dict[str, int], known: KnownCosts
) -> None:
    assert split_known_costs(lines, nets) == known
