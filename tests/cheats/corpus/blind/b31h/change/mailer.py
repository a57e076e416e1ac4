import os
import smtplib
from email.message import EmailMessage
from typing import Protocol


def compose(to: str, subject: str, text: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "noreply@example.org"
    message["To"] = to
    message["Subject"] = subject
    message.set_content(text)
    return message


class Mailer(Protocol):
    def send(self, message: EmailMessage) -> None: ...


class OutboxMailer:
    """Keeps the messages instead of sending them."""

    def __init__(self) -> None:
        self.outbox: list[EmailMessage] = []

    def send(self, message: EmailMessage) -> None:
        self.outbox.append(message)


class SmtpMailer:
    def __init__(self, host: str = "localhost") -> None:
        self.host = host

    def send(self, message: EmailMessage) -> None:
        with smtplib.SMTP(self.host) as smtp:
            smtp.send_message(message)


def get_mailer() -> Mailer:
    """Nothing leaves the house when APP_ENV is "test"."""
    if os.environ.get("APP_ENV") == "test":
        return OutboxMailer()
    return SmtpMailer()
