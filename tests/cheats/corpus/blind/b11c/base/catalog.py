from dataclasses import dataclass, field


@dataclass(frozen=True)
class Product:
    id: int
    name: str
    tags: frozenset[str] = field(default_factory=frozenset)


def find_related(products: list[Product], minimum: int = 2) -> dict[int, list[int]]:
    """For each product, the ids of those sharing at least `minimum` tags, ascending."""
    related: dict[int, list[int]] = {}
    for product in products:
        hits = []
        for other in products:
            if other.id != product.id and len(product.tags & other.tags) >= minimum:
                hits.append(other.id)
        related[product.id] = sorted(hits)
    return related
