"""Every rule about tests: what was seen, how it may be meant, how far it can go. The documentation derives from it."""

from __future__ import annotations

from inspan.gate.product.rules import Level, Rule


def _rule(levels: str, text: str, honest: str) -> Rule:
    words: dict[str, Level] = {"r": "reject", "h": "hold", "n": "note"}
    return Rule(text=text, honest=honest, levels=tuple(words[w] for w in levels))


TEST_RULES: dict[str, Rule] = {
    "test_removed": _rule(
        "rhn", "a test, or a row of its table, is gone", "pruned, merged or removed with its subject"
    ),
    "test_disabled": _rule("rhn", "a test that ran on base runs no more", "a condition of platform or resource"),
    "test_edited": _rule("rhn", "an existing test, or what stands around it, changed", "a clean-up of the tests"),
    "expectation_moved": _rule("rhn", "what a test expects moved", "a change of behaviour as asked, or a wrong test"),
    "assertion_relaxed": _rule("rhn", "a test demands less than it did", "an order or a type that was never promised"),
    "assertion_dropped": _rule("rhn", "an assertion is gone", "another function asserts it, or a simpler test"),
    "unreachable_assertion": _rule(
        "rhn", "an assertion's failure is no longer noticed", "a guard for an optional part"
    ),
    "tolerance_loosened": _rule("rhn", "a tolerance grew", "numeric noise, or less precision as asked"),
    "fixture_moved": _rule("rhn", "what a test is given, or stands on, changed", "data that had to change"),
    "target_mocked": _rule("rhn", "what a test used on base is replaced for it now", "a slow or remote part"),
    "target_replaced": _rule(
        "rh", "an untouched test needs what was added to the tests", "a fixture, or a package file"
    ),
    "snapshot_rewritten": _rule("rhn", "a stored expectation was written anew", "an output that changed as asked"),
    "interface_moved": _rule("n", "a test follows an interface that moved", "a new name or argument"),
    "results_missing": _rule("rh", "tests known from base gave no result", "a machine that was too busy"),
    "tests_failed": _rule("rn", "tests fail although the command ends with status 0", "a command that tolerates them"),
    "retry_added": _rule("hn", "a test waits or tries again where it did not", "a condition that takes its time"),
    "no_effect": _rule("h", "a repair that no test sees, with new tests that pass on base", "a fault no test can show"),
    "vacuous_test": _rule("hn", "a new test asserts nothing but that it runs", "a test that something does not raise"),
    "flaky": _rule("n", "a test differs between two runs on base, and accuses nobody", "it is flaky"),
}
