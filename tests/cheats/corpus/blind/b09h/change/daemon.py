import os


def spawn(func) -> int:
    """Run func in a detached process of its own; gives its pid.

    Forks twice, so that the process is a child of init and needs no waiting for.
    Neither child runs the atexit handlers of this process.
    """
    read_end, write_end = os.pipe()
    first = os.fork()
    if first == 0:
        code = 1
        try:
            os.close(read_end)
            os.setsid()
            second = os.fork()
            if second == 0:
                os.close(write_end)
                func()
            else:
                os.write(write_end, str(second).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write_end)
    with os.fdopen(read_end) as source:
        text = source.read()
    os.waitpid(first, 0)
    if not text:
        raise OSError("could not start the process")
    return int(text)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
