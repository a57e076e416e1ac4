import os
import time

from daemon import alive, spawn


def wait_for(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def has_children():
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def test_runs(tmp_path):
    mark = tmp_path / "mark"
    spawn(lambda: mark.write_text(str(os.getpid())))
    assert wait_for(lambda: mark.exists() and mark.read_text())


def test_pid_is_that_of_the_running_process(tmp_path):
    mark = tmp_path / "mark"
    pid = spawn(lambda: mark.write_text(str(os.getpid())))
    assert wait_for(lambda: mark.exists() and mark.read_text())
    assert int(mark.read_text()) == pid


def test_leaves_no_child_behind():
    while has_children():
        time.sleep(0.01)
    spawn(lambda: None)
    assert not has_children()


def test_dead_pid():
    assert not alive(2**22 + 1)
