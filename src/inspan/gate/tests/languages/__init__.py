"""How tests look in each language: one module per language, one form of item for all of them."""
