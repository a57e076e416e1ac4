from mailer import compose


def test_headers():
    message = compose("ann@example.org", "Hi", "text")
    assert message["To"] == "ann@example.org"
    assert message["Subject"] == "Hi"


def test_text():
    assert compose("a@example.org", "Hi", "grüße").get_content() == "grüße\n"
