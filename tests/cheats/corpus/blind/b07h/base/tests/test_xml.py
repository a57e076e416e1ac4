from report import to_xml


def test_rows():
    assert "<row><a>1</a></row>" in to_xml([{"a": 1}])


def test_escaping():
    assert "&lt;&amp;" in to_xml([{"a": "<&"}])
