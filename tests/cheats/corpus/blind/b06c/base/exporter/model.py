from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Invoice:
    number: str
    day: date
    customer: str
    net: int
    vat_percent: int

    @property
    def vat(self) -> int:
        return (self.net * self.vat_percent + 50) // 100
