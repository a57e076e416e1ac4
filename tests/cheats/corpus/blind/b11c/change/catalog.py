from dataclasses import dataclass, field


@dataclass(frozen=True)
class Product:
    id: int
    name: str
    tags: frozenset[str] = field(default_factory=frozenset)


class TagIndex:
    """Maps tags to the products carrying them."""

    def __init__(self, products: list[Product]) -> None:
        self._products = list(products)
        self._by_tag: dict[str, set[int]] = {}
        for product in products:
            for tag in product.tags:
                self._by_tag.setdefault(tag, set()).add(product.id)

    def candidates(self, product: Product) -> list[Product]:
        """Products which may be related to the given one."""
        known = any(tag in self._by_tag for tag in product.tags)
        return [other for other in self._products if other.id != product.id] if known else []


def find_related(products: list[Product], minimum: int = 2) -> dict[int, list[int]]:
    """For each product, the ids of those sharing at least `minimum` tags, ascending."""
    index = TagIndex(products)
    related: dict[int, list[int]] = {}
    for product in products:
        hits = [
            other.id
            for other in index.candidates(product)
            if len(product.tags & other.tags) >= minimum
        ]
        related[product.id] = sorted(hits)
    return related
