"""The format before 2019."""


def parse_old(line):
    """(station, celsius) of an old line."""
    station, _, celsius = line.partition("=")
    return station, float(celsius)
