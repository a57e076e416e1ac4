from uploads.paths import UnsafePath, safe_join, unique_name

__all__ = ["UnsafePath", "safe_join", "unique_name"]
