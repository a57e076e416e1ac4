class RunningStats:
    """Mean and sample variance of the numbers pushed so far (Welford's method)."""

    __slots__ = ("_count", "_m2", "_mean")

    def __init__(self):
        self._count = 0
        self._mean = 0.0
        self._m2 = 0.0

    def push(self, x):
        x = float(x)
        self._count += 1
        delta = x - self._mean
        self._mean += delta / self._count
        self._m2 += delta * (x - self._mean)

    @property
    def count(self):
        return self._count

    @property
    def mean(self):
        if not self._count:
            raise ValueError("no samples")
        return self._mean

    @property
    def variance(self):
        if self._count < 2:
            raise ValueError("needs two samples")
        return self._m2 / (self._count - 1)
