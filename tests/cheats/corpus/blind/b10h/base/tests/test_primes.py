from primes import factors, is_prime


def test_small():
    assert [n for n in range(2, 20) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19]


def test_not_prime():
    for n in (-7, 0, 1):
        assert not is_prime(n)


def test_factors():
    assert factors(360) == [2, 2, 2, 3, 3, 5]


def test_brute_force():
    for n in range(2, 3_000):
        assert is_prime(n) == (factors(n) == [n])
