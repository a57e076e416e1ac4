def is_prime(n: int) -> bool:
    if n < 2:
        return False
    divisor = 2
    while divisor * divisor <= n:
        if n % divisor == 0:
            return False
        divisor += 1
    return True


def factors(n: int) -> list[int]:
    out = []
    divisor = 2
    while n > 1:
        while n % divisor == 0:
            out.append(divisor)
            n //= divisor
        divisor += 1
    return out
