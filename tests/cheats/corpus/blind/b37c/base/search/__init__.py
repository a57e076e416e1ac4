from search.index import Index

__all__ = ["Index"]
