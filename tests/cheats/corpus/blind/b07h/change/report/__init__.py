from report.json_out import to_json

__all__ = ["to_json"]
