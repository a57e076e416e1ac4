from dataclasses import dataclass, field

from shop.money import percent_of


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
        """Ten percent off from 100.00 upwards."""
        subtotal = self.subtotal()
        if subtotal >= 10_000:
            return percent_of(subtotal, 10)
        return 0

    def total(self) -> int:
        return self.subtotal() - self.discount()
