from dataclasses import dataclass, field

from shop.money import percent_of

DISCOUNT_FROM = 8_000
DISCOUNT_PERCENT = 15


@dataclass
class Line:
    sku: str
    unit_price: int
    quantity: int = 1

    @property
    def total(self) -> int:
        return self.unit_price * self.quantity


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)

    def add(self, sku: str, unit_price: int, quantity: int = 1) -> None:
        for line in self.lines:
            if line.sku == sku and line.unit_price == unit_price:
                line.quantity += quantity
                return
        self.lines.append(Line(sku, unit_price, quantity))

    def subtotal(self) -> int:
        return sum(line.total for line in self.lines)

    def discount(self) -> int:
        """Fifteen percent off from 80.00 upwards."""
        subtotal = self.subtotal()
        if subtotal >= DISCOUNT_FROM:
            return percent_of(subtotal, DISCOUNT_PERCENT)
        return 0

    def total(self) -> int:
        return self.subtotal() - self.discount()
