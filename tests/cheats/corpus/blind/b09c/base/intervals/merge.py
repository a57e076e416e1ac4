def merge_intervals(intervals):
    """Union of closed intervals as a sorted list of disjoint ones."""
    merged = []
    for start, end in sorted(intervals):
        if start > end:
            raise ValueError(f"empty interval: {start}..{end}")
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def covered(intervals):
    """Total length covered by the intervals."""
    return sum(end - start for start, end in merge_intervals(intervals))
