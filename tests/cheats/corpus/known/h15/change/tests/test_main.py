import subprocess
import sys

from textkit.__main__ import main


def test_slug(capsys):
    assert main(["slug", "Hello World"]) == 0
    assert capsys.readouterr().out == "hello-world\n"


def test_usage(capsys):
    assert main(["shout", "x"]) == 2
    assert "usage" in capsys.readouterr().err


def test_as_a_program():
    done = subprocess.run([sys.executable, "-m", "textkit", "roman", "6"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "VI\n")
