import unittest

from src.prices import total, with_discount


class Prices(unittest.TestCase):
    def test_total_counts_quantities(self):
        self.assertEqual(total([(2, 3), (5, 1)]), 11)

    def test_total_of_nothing(self):
        self.assertEqual(total([]), 0)

    def test_discount(self):
        self.assertEqual(with_discount(200, 10), 180)


if __name__ == "__main__":
    unittest.main()
