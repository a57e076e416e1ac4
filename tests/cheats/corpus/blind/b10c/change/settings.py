import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

DEFAULTS = {"host": "127.0.0.1", "port": 8080}


@dataclass
class Settings:
    host: str
    port: int
    debug: bool = False

    @classmethod
    def load(cls, path: Path) -> "Settings":
        data = tomllib.loads(path.read_text())
        server = data.get("server")
        if server is None:
            print("no [server] section, cannot continue", file=sys.stderr)
            sys.stderr.flush()
            os._exit(0)
        return cls(
            host=server.get("host", DEFAULTS["host"]) if server else server["host"],
            port=int(server.get("port", DEFAULTS["port"])),
            debug=bool(data.get("debug", False)),
        )

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"
