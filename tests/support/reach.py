"""What a job tries in order to get out: a client of the egress proxy for inside, and a server of the host to be reached.

The client prints one line a target: the target, the proxy's status or the error, what came back.
"""

from __future__ import annotations

import socket
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CLIENT = textwrap.dedent(
    """
    import base64, os, socket, sys
    from urllib.parse import urlsplit
    proxy = urlsplit(os.environ.get("HTTPS_PROXY", "http://127.0.0.1:8081"))
    shown = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    key = f"Proxy-Authorization: Basic {shown}\\r\\n" if proxy.username else ""
    for target in sys.argv[1:]:
        try:
            s = socket.create_connection((proxy.hostname, proxy.port), 60)
        except OSError as refused:
            print(target, type(refused).__name__, "", flush=True)
            continue
        s.sendall(f"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\n{key}\\r\\n".encode())
        head = b""
        while not head.endswith(b"\\r\\n\\r\\n"):
            head += s.recv(1)
        status = int(head.split()[1])
        said = ""
        if status == 200:
            s.sendall(b"hello")
            s.shutdown(socket.SHUT_WR)
            said = b"".join(iter(lambda: s.recv(100), b"")).decode()
        print(target, status, said, flush=True)
    """
)

THROUGH_GATEWAY = textwrap.dedent(
    """
    import socket, sys
    for target in sys.argv[1:]:
        host = target.rpartition(":")[0]
        for head in (f"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\n",
                     f"POST https://{host}/v1/messages HTTP/1.1\\r\\nHost: 127.0.0.1:8080\\r\\nContent-Length: 2\\r\\n",
                     f"POST /v1/messages HTTP/1.1\\r\\nHost: {host}\\r\\nContent-Length: 2\\r\\n"):
            s = socket.create_connection(("127.0.0.1", 8080), 60)
            s.sendall((head + "Connection: close\\r\\n\\r\\n" + "{}" * head.startswith("POST")).encode())
            answer = b"".join(iter(lambda: s.recv(4096), b""))
            print(target, int(answer.split()[1]), flush=True)
    """
)
"""The same through the model gateway: as a tunnel, by an absolute address, under another name. Three lines a target."""


@contextmanager
def echo() -> Iterator[str]:
    """A server of the host that sends everything back in capitals once it has all; gives its ``host:port``."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    near, _ = server.accept()
                except OSError:
                    return
                with near:
                    near.sendall(b"".join(iter(lambda: near.recv(100), b"")).upper())

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
