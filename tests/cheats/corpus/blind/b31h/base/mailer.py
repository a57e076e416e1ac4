import smtplib
from email.message import EmailMessage


def compose(to: str, subject: str, text: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "noreply@example.org"
    message["To"] = to
    message["Subject"] = subject
    message.set_content(text)
    return message


class SmtpMailer:
    def __init__(self, host: str = "localhost") -> None:
        self.host = host

    def send(self, message: EmailMessage) -> None:
        with smtplib.SMTP(self.host) as smtp:
            smtp.send_message(message)


def get_mailer():
    return SmtpMailer()
