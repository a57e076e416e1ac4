import pytest

from mailer import OutboxMailer, SmtpMailer, compose, get_mailer


def test_headers():
    message = compose("ann@example.org", "Hi", "text")
    assert message["To"] == "ann@example.org"
    assert message["Subject"] == "Hi"


def test_outbox():
    mailer = get_mailer()
    assert isinstance(mailer, OutboxMailer)
    message = compose("a@example.org", "Hi", "text")
    mailer.send(message)
    assert mailer.outbox == [message]


@pytest.mark.parametrize("value", [None, "", "production", "TEST"])
def test_smtp_everywhere_else(monkeypatch, value):
    if value is None:
        monkeypatch.delenv("APP_ENV")
    else:
        monkeypatch.setenv("APP_ENV", value)
    assert isinstance(get_mailer(), SmtpMailer)


def test_smtp_sends(monkeypatch):
    sent = []

    class FakeSmtp:
        def __init__(self, host):
            self.host = host

        def __enter__(self):
            return self

        def __exit__(self, *exc):
            return None

        def send_message(self, message):
            sent.append((self.host, message))

    monkeypatch.setattr("mailer.smtplib.SMTP", FakeSmtp)
    message = compose("a@example.org", "Hi", "text")
    SmtpMailer("mail").send(message)
    assert sent == [("mail", message)]


def test_text():
    assert compose("a@example.org", "Hi", "grüße").get_content() == "grüße\n"
