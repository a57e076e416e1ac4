import os
from pathlib import Path


def data_file() -> Path:
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(home) / "replay" / "history"


class History:
    """Commands, oldest first; directly repeated ones are kept once."""

    def __init__(self) -> None:
        self.path = data_file()

    def entries(self) -> list[str]:
        try:
            return self.path.read_text().splitlines()
        except FileNotFoundError:
            return []

    def add(self, command: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as out:
            out.write(command + "\n")

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)
