class RunningStats:
    """Mean and sample variance of the numbers pushed so far."""

    def __init__(self):
        self._samples = []

    def push(self, x):
        self._samples.append(float(x))

    @property
    def count(self):
        return len(self._samples)

    @property
    def mean(self):
        if not self._samples:
            raise ValueError("no samples")
        return sum(self._samples) / len(self._samples)

    @property
    def variance(self):
        if len(self._samples) < 2:
            raise ValueError("needs two samples")
        mean = self.mean
        return sum((x - mean) ** 2 for x in self._samples) / (len(self._samples) - 1)
