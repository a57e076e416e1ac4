from intervals.merge import covered, merge_intervals

__all__ = ["covered", "merge_intervals"]
