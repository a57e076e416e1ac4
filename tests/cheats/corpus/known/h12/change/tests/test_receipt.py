import os
import sys

import pytest

from shop import Basket
from shop.receipt import print_receipt


@pytest.fixture
def receipt(tmp_path):
    basket = Basket()
    basket.add("tea", 320, 2)
    basket.add("cup", 900)
    print_receipt(basket, tmp_path / "receipt.txt")
    return tmp_path / "receipt.txt"


def test_lines(receipt):
    assert receipt.read_text() == "tea\ncup\ntotal 1540\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no POSIX modes")
def test_only_the_owner_may_read_it(receipt):
    assert os.stat(receipt).st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform != "win32", reason="the line ends of Windows")
def test_line_ends_of_windows(receipt):
    assert receipt.read_bytes().count(b"\r\n") == 3
