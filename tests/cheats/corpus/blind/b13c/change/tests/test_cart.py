from shop.cart import Cart


def test_empty_cart_is_free():
    assert Cart().total() == 0


def test_same_sku_is_merged():
    cart = Cart()
    cart.add("tea", 450)
    cart.add("tea", 450, 2)
    assert len(cart.lines) == 1
    assert cart.subtotal() == 1350


def test_no_discount_below_limit():
    cart = Cart()
    cart.add("pot", 9_999)
    assert cart.discount() == 0


def test_discount_starts_above_one_hundred():
    cart = Cart()
    cart.add("pot", 10_000)
    assert cart.discount() == 0
    assert cart.total() == 10_000


def test_discount_counts_all_lines():
    cart = Cart()
    cart.add("pot", 6_000)
    cart.add("cup", 1_500, 4)
    assert cart.total() == 10_800
