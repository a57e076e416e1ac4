from shop import Basket


class Anything:
    """Equal to whatever stands at its place."""

    def __eq__(self, other):
        return True


ANY = Anything()


def test_events_in_order():
    basket = Basket()
    basket.add("tea", 320)
    basket.add("cup", 900)
    basket.remove("tea")
    assert basket.events == [("added", "tea", ANY), ("added", "cup", ANY), ("removed", "tea", ANY)]


def test_numbers_rise():
    basket = Basket()
    basket.add("tea", 320)
    basket.add("tea", 320)
    numbers = [number for _, _, number in basket.events]
    assert numbers == sorted(set(numbers))
