"""Tests as items in every language: ids, strength, helpers, titles, probes, the test regions of a product file."""

from __future__ import annotations

import pytest

from inspan.gate.tests.changes import compare_tests
from inspan.gate.tests.items import Items, item_of, matches
from inspan.gate.tests.languages import ecma, golang, python, rust
from inspan.gate.tests.languages.contract import language, parse
from inspan.gate.tests.languages.rust_regions import swap
from inspan.gate.tests.probes import plant
from inspan.gate.tests.strength import Strength as S

TS = b"""import { total } from '../src/price'
vi.mock('../src/net')
function check(a: number[], b: number) { expect(total(a)).toEqual(b) }
describe('price', () => {
  it('adds', () => { expect(total([1, 2])).toBe(3) })
  it.skip('skipped', () => { check([1], 1) })
  test.each([[1, 2]])('double %i is %i', (a, b) => { expect(a * 2).toBe(b) })
  it.todo('later')
  test('node', { skip: true, retry: 3 }, () => { assert.strictEqual(total([1]), 1) })
  it(`made ${x}`, () => {})
})
"""
GO = b"""//go:build integration

package price

import "testing"

func TestMain(m *testing.M) { m.Run() }

func check(t *testing.T, got, want int) {
\tt.Helper()
\tif got != want {
\t\tt.Errorf("bad %d", got)
\t}
}

func TestAdd(t *testing.T) {
\tif got := Add(1, 2); got != 3 {
\t\tt.Errorf("Add = %d, want 5", got)
\t}
\tcheck(t, Add(2, 2), 4)
}

func TestSkipped(t *testing.T) {
\tt.Skip("later")
}

func ExampleAdd() {
\tfmt.Println(Add(1, 2))
\t// Output: 3
}

func Testify() {}
"""
RS = b"""/// Adds.
///
/// ```
/// assert_eq!(price::add(1, 2), 3);
/// ```
pub fn add(a: i64, b: i64) -> i64 { a + b }

pub struct Money(i64);

impl Money {
    #[cfg(test)]
    fn for_test() -> Money { Money(0) }
}

#[cfg(all(test, feature = "slow"))]
mod tests {
    use super::*;
    fn check(a: i64, b: i64) { assert_eq!(a, b, "message {}", 9); }

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3, "sum of {}", 5);
        check(add(3, 3), 6);
    }

    #[test]
    #[should_panic(expected = "neg")]
    fn panics() { assert_eq!(add(1, 1), 5); }

    #[tokio::test]
    #[ignore = "slow"]
    async fn slow() { assert!(true); }
}
"""


def by_name(path, source):
    return {i.name: i for i in parse(path, source).items.values()}


def test_typescript():
    module = parse("tests/price.test.ts", TS)
    items = by_name("tests/price.test.ts", TS)
    assert list(items) == ["adds", "skipped", "double %i is %i", "later", "node", "made ${x}"]
    assert items["adds"].id == "tests/price.test.ts::price::adds"
    assert [(n, i.disabled) for n, i in items.items() if i.disabled] == [
        ("skipped", "skip"),
        ("later", "todo"),
        ("node", "skip"),
    ]
    assert [a.strength for a in items["skipped"].assertions] == [S.EQUAL]  # behind a function of the file
    assert items["node"].patience == ("retry: 3",) and module.mocks == {"../src/net"}
    known = Items([module])
    assert known.locate("tests/price.test.ts::price::double 1 is 2") == items["double %i is %i"].id
    assert known.locate("tests/price.test.ts::price::made 7") == items["made ${x}"].id
    assert known.locate("tests/price.test.ts::price::adds::inner") == items["adds"].id
    assert known.locate("tests/price.test.ts::price::other") == "tests/price.test.ts::price::other"


def test_go():
    module = parse("pkg/price_test.go", GO)
    items = by_name("pkg/price_test.go", GO)
    assert {i.id for i in items.values()} == {"pkg::TestAdd", "pkg::TestSkipped", "pkg::ExampleAdd"}
    assert item_of("pkg::TestAdd/row one/two") == "pkg::TestAdd" and module.gates == ("//go:build integration",)
    assert [(a.subject, a.strength) for a in items["TestAdd"].assertions] == [
        ("Add ( 1 , 2 )", S.EQUAL),
        ("Add ( 2 , 2 )", S.EQUAL),
    ]
    assert items["TestAdd"].constants == {"1", "2", "3", "4"}  # messages are not expectations
    assert items["TestSkipped"].disabled == "skip"
    assert items["ExampleAdd"].constants == {"1", "2", "// Output: 3"}
    assert parse("pkg/price.go", GO).items == {}


def test_rust():
    module = parse("src/money.rs", RS)
    items = by_name("src/money.rs", RS)
    assert items["adds"].id == "src/lib.rs::money::tests::adds"
    assert items["add"].id == "src/money.rs::doc::money::add"
    assert [a.strength for a in items["adds"].assertions] == [S.EQUAL, S.EQUAL]
    assert items["adds"].constants == {"1", "2", "3", "6"}
    assert [a.strength for a in items["panics"].assertions] == [S.EQUAL, S.RUNS]
    assert items["slow"].disabled == "ignore" and not items["slow"].plain
    assert module.mixed and 'all ( test , feature = "slow" )' in module.gates
    known = Items([module])
    assert known.locate("src/main.rs::money::tests::adds") == items["adds"].id
    assert known.locate("src/money.rs::doc::money::add (line 12)") == items["add"].id
    where = {
        "tests/api.rs": "tests/api.rs",
        "crates/a/src/x/mod.rs": "crates/a/src/lib.rs",
        "src/main.rs": "src/main.rs",
    }
    assert {p: rust.crate(p)[0] for p in where} == where and rust.crate("crates/a/src/x/mod.rs")[1] == ["x"]


STRENGTHS = [
    ("ts", "expect(f()).toBe(4)", S.EQUAL), ("ts", "expect(f()).toEqual([4])", S.EQUAL), ("ts", "expect(f()).toBeCloseTo(4)", S.CLOSE),
    ("ts", "expect(f()).toEqual(expect.any(Number))", S.TYPE), ("ts", "expect(f()).toEqual(expect.anything())", S.TRUTHY),
    ("ts", "expect(f()).toContain(4)", S.MEMBER), ("ts", "expect(f()).toHaveLength(4)", S.ORDER), ("ts", "expect(f().length).toBe(4)", S.ORDER),
    ("ts", "expect(f()).toBeDefined()", S.TRUTHY), ("ts", "expect(f()).toBe(g)", S.IDENTITY), ("ts", "expect(f()).toBeNull()", S.IDENTITY), ("ts", "expect(f()).not.toBe(4)", S.TRUTHY), ("ts", "expect(f() === 4).toBe(true)", S.EQUAL),
    ("ts", "expect(f()).toBe(f())", S.NOTHING), ("ts", "expect(true).toBe(true)", S.NOTHING), ("ts", "expect(f()).toMatchInlineSnapshot()", S.RUNS),
    ("ts", "expect(f()).toMatchInlineSnapshot(`4`)", S.EQUAL), ("ts", "expect(p()).resolves.toBe(4)", S.NOTHING),
    ("ts", "await expect(p()).resolves.toBe(4)", S.EQUAL), ("ts", "return expect(p()).rejects.toThrow('x')", S.EQUAL),
    ("ts", "try { expect(f()).toBe(4) } catch {}", S.RUNS), ("ts", "try { expect(f()).toBe(4) } catch (e) { throw e }", S.EQUAL),
    ("ts", "expect(() => f()).toThrow()", S.TRUTHY), ("ts", "expect(() => f()).toThrow(RangeError)", S.CLOSE), ("ts", "expect(() => f()).not.toThrow()", S.RUNS),
    ("ts", "assert.deepStrictEqual(f(), 4)", S.EQUAL), ("ts", "assert(f() === 4)", S.EQUAL), ("ts", "assert.ok(f())", S.TRUTHY),
    ("ts", "assert.rejects(p())", S.NOTHING), ("ts", "await assert.rejects(p(), /x/)", S.EQUAL), ("ts", "return; expect(f()).toBe(4)", S.NOTHING),
    ("ts", "expect([...f()].sort()).toEqual([1, 2].sort())", S.CLOSE), ("ts", "expect(f()).to.equal(4)", S.EQUAL), ("ts", "expect(f()).to.be.true", S.IDENTITY),
    ("go", "if f() != 4 { t.Error() }", S.EQUAL), ("go", "if f() < 4 { t.Error() }", S.ORDER), ("go", "if err != nil { t.Fatal(err) }", S.RUNS),
    ("go", "if err == nil { t.Fatal() }", S.TRUTHY), ("go", "if !reflect.DeepEqual(f(), x) { t.Error() }", S.EQUAL), ("go", "if !errors.Is(err, E) { t.Error() }", S.CLOSE),
    ("go", "if math.Abs(f()-4) > 1e-3 { t.Error() }", S.CLOSE), ("go", "if !strings.Contains(f(), \"a\") { t.Error() }", S.MEMBER),
    ("go", "if f() != 4 && f() != 5 { t.Error() }", S.MEMBER), ("go", "if len(f()) != 4 { t.Error() }", S.ORDER), ("go", "require.Equal(t, 4, f())", S.EQUAL),
    ("go", "assert.NoError(t, f())", S.RUNS), ("go", "t.Errorf(\"x\")", S.NOTHING), ("go", "if f() != f() { t.Error() }", S.NOTHING),
    ("rs", "assert_eq!(f(), 4);", S.EQUAL), ("rs", "assert!(f() == 4);", S.EQUAL), ("rs", "assert!(f().is_ok());", S.TRUTHY), ("rs", "assert!(true);", S.NOTHING),
    ("rs", "assert!((f() - 4.0).abs() < 1e-3);", S.CLOSE), ("rs", "assert!(matches!(f(), Err(E::A)));", S.CLOSE), ("rs", "assert_eq!(f().len(), 4);", S.ORDER),
    ("rs", "assert!(f() > 4);", S.ORDER), ("rs", "assert_ne!(f(), 4);", S.TRUTHY), ("rs", "assert_eq!(f(), f());", S.NOTHING), ("rs", "if f() != 4 { panic!() }", S.EQUAL),
    ("rs", "match f() { Err(E::A) => {}, _ => panic!() }", S.CLOSE), ("rs", "insta::assert_snapshot!(f());", S.EQUAL), ("rs", "assert!(f().contains(&4));", S.MEMBER),
]  # fmt: skip
FRAMES = {
    "ts": ("a.test.ts", "it('a', async () => { %s })"), "go": ("a_test.go", "package a\nfunc TestA(t *testing.T) {\n%s\n}\n"),
    "rs": ("tests/a.rs", "#[test]\nfn a() { %s }\n"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "source", "strength"), STRENGTHS)
def test_strength(kind, source, strength):
    path, frame = FRAMES[kind]
    (item,) = parse(path, (frame % source).encode()).items.values()
    assert [a.strength for a in item.assertions] == [strength]


@pytest.mark.parametrize(
    ("path", "one", "two"),
    [
        (
            "a.test.js",
            b"test('a', () => { expect(f(1)).toBe('x'); });",
            b"test(\n  'a',\n  () => {\n    // why\n    expect(f(1)).toBe(\"x\")\n  },\n)",
        ),
        (
            "a_test.go",
            b"package a\nfunc TestA(t *testing.T) { if f() != 1 { t.Fail() } }",
            b"package a\n\nfunc TestA(t *testing.T) {\n\t// why\n\tif f() != 1 {\n\t\tt.Fail()\n\t}\n}\n",
        ),
        (
            "tests/a.rs",
            b"#[test]\nfn a() { assert_eq!(f(1), 2); }",
            b"#[test]\nfn a() {\n    // why\n    assert_eq!(\n        f(1),\n        2,\n    );\n}\n",
        ),
    ],
)
def test_formatting_is_no_change(path, one, two):
    found = compare_tests({path: parse(path, one)}, {path: parse(path, two)})
    assert found.base and not found.existing
    other = compare_tests({path: parse(path, one)}, {path: parse(path, two.replace(b"1", b"3"))})
    assert other.edited


@pytest.mark.parametrize(
    ("speech", "path", "source", "shown"),
    [
        (ecma, "tests/price.test.ts", TS, "it('adds again', () => { expect(total([1, 2])).toBe(397) })"),
        (
            golang,
            "pkg/price_test.go",
            GO,
            "func TestAddAgain(t *testing.T) {\n\tif got := Add(1, 2); got != (3 + 97) {",
        ),
        (rust, "src/money.rs", RS, '#[test]\n    fn adds_again() {\n        assert_eq!(add(1, 2), 9, "sum of {}", 5);'),
    ],
)
def test_probes(speech, path, source, shown):
    assert language(path) is speech
    module = parse(path, source)
    planted = plant(speech, module, source, list(module.items), 9)
    assert shown in planted.data.decode() and len(planted.probes) == 1
    probe = planted.probes[0]
    again = parse(path, planted.data)
    assert set(again.items) - set(module.items) == {probe.id} and probe.original in module.items
    assert all(again.items[i].body == module.items[i].body for i in module.items)


def test_regions_are_swapped_and_the_product_stays():
    other = (
        RS.replace(b"a + b", b"a - b")
        .replace(b'3, "sum', b'4, "sum')
        .replace(b"/// assert_eq!(price::add(1, 2), 3)", b"/// assert_eq!(price::add(1, 2), 5)")
    )
    mixed = swap(RS, other)
    assert b"a + b" in mixed and b'4, "sum' in mixed and b"add(1, 2), 5)" in mixed
    assert swap(RS, RS) == RS
    bare = b"pub fn add(a: i64, b: i64) -> i64 { a * b }\n\npub struct Money(i64);\n\nimpl Money {\n}\n"
    given = swap(bare, RS)
    assert (
        set(parse("src/money.rs", given).items) == set(parse("src/money.rs", RS).items)
        and b"a * b" in given
        and b"for_test" in given
    )
    taken = swap(RS, bare)
    assert not parse("src/money.rs", taken).items and b"a + b" in taken and b"for_test" not in taken
    assert swap(RS, b"fn (") is None


def test_what_a_file_of_the_product_says_is_no_context_of_tests():
    other = RS.replace(b"a + b", b"a - b").replace(b"pub struct Money(i64)", b"pub struct Money(i32)")
    assert not compare_tests(
        {"src/money.rs": parse("src/money.rs", RS)}, {"src/money.rs": parse("src/money.rs", other)}
    ).existing


def test_replaced_parts_are_told():
    def found(path, old, new):
        return dict(compare_tests({path: parse(path, old)}, {path: parse(path, new)}).mocked)

    assert found("a.test.ts", TS, TS.replace(b"../src/net", b"../src/price"))
    assert not found("a.test.ts", TS.replace(b"vi.mock('../src/net')\n", b""), TS)  # nothing of it was used
    old = b"from shop import total\n\n\ndef test_a():\n    assert total(1) == 2\n"
    assert found(
        "t.py",
        old,
        old.replace(b"def test_a():", b"def test_a(monkeypatch):\n    monkeypatch.setattr('shop.total', lambda a: 2)"),
    )
    assert not found(
        "t.py",
        old,
        old.replace(b"def test_a():", b"def test_a(monkeypatch):\n    monkeypatch.setattr('time.sleep', lambda a: 2)"),
    )
    assert python.parse("t.py", old).imports == {"total": "shop"}


def test_tests_that_look_at_the_same_things_are_one():
    def moved(path, old, new):
        return dict(compare_tests({path: parse(path, old)}, {path: parse(path, new)}).moved)

    old = b'#[test]\n#[should_panic(expected = "heavy")]\nfn panics() { all(&["1kg", "20kg"]); }\n'
    new = b'#[test]\nfn none_then() { assert_eq!(all(&["1kg", "20kg"]), None); }\n'
    assert moved("tests/a.rs", old, new) == {"tests/a.rs::panics": "tests/a.rs::none_then"}
    assert not moved("tests/a.rs", old, new.replace(b"20kg", b"2kg"))
    py = b"def test_half():\n    assert price(10, rate(2)) == 5\n"
    assert moved(
        "t.py", py, b"def test_third():\n    # all of it new\n    assert price(10, rate(2)) == 3333, 'a long message'\n"
    )
    assert not moved("t.py", py, b"def test_third():\n    assert price(11, rate(2)) == 3333, 'a long message'\n")


def test_an_error_by_identity_is_one_step_below_its_text_and_a_helper_changes_nothing():
    def loose(old, new):
        frame = b"package a\n\nfunc must(t *testing.T, s string) int {\n\tgot, err := Parse(s)\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\treturn got\n}\n\nfunc TestA(t *testing.T) {\n%s\n}\n"
        (found,) = compare_tests(
            {"a_test.go": parse("a_test.go", frame % old)}, {"a_test.go": parse("a_test.go", frame % new)}
        ).loosening.values()
        return found

    named = loose(b'if err == nil || err.Error() != "x" { t.Error() }', b"if !errors.Is(err, ErrX) { t.Error() }")
    assert named.steps == 1 and not named.dropped
    helped = loose(
        b'got, err := Parse("3")\nif err != nil { t.Fatal(err) }\nif got != 3 { t.Error() }',
        b'if got := must(t, "3"); got != 3 { t.Error() }',
    )
    assert helped.tame
    assert loose(b"if f() != 1 { t.Error() }\nif g() == nil { t.Error() }", b"if f() != 1 { t.Error() }").dropped


def test_titles_made_when_a_test_runs_are_matched_in_one_pass():
    assert matches(("a::x ", " y"), "a::x 1 y") and matches(("a::", ""), "a::anything::at all") and matches(("a",), "a")
    assert not matches(("a::x ", " y"), "a::x y") and not matches(("a::", "b", "c"), "a::cb c"[:-1] + "d")
    assert not matches(("a", *["x"] * 200, "!"), "a" + "x" * 199 + "!") and matches(
        ("a", *["x"] * 200, "!"), "a" + "x" * 200 + "!"
    )


def test_many_moved_tests_are_paired():
    def module(prefix, n=300):
        return parse(
            "t.py", "".join(f"def test_{prefix}{i}():\n    assert f({i}) == {i + 7}\n\n\n" for i in range(n)).encode()
        )

    found = compare_tests({"t.py": module("a")}, {"t.py": module("b")})
    assert len(found.moved) == 300 and found.moved["t.py::test_a17"] == "t.py::test_b17" and not found.folded
