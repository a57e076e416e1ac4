import pytest

from shop.voucher import redeem


def test_redeem():
    assert redeem(2500, "V10") == 1500


def test_never_below_zero():
    assert redeem(500, "V10") == 0


def test_no_voucher():
    with pytest.raises(ValueError):
        redeem(500, "X10")
