import time

from search import Index

DOCS = {"one": ["Apple", "apply", "pear"], "two": ["apple", "plum"]}


def test_prefix():
    index = Index.build(DOCS)
    assert index.prefix("app") == ["one", "two"]
    assert index.prefix("appl") == ["one", "two"]
    assert index.prefix("pe") == ["one"]
    assert index.prefix("x") == []


def test_pairs_are_unique():
    assert len(Index.build({"one": ["a", "A", "a"]})) == 1


def test_empty():
    assert Index.build({}).prefix("a") == []


def test_build_is_fast():
    documents = {f"doc{d}": [f"w{(d * 7919 + n * 104729) % 100003}" for n in range(60)] for d in range(60)}
    start = time.perf_counter()
    index = Index.build(documents)
    assert time.perf_counter() - start < 0.3
    assert index.prefix("w1")
