"""Records for people."""

from prettytable import PrettyTable


def show(records):
    """A table of records."""
    table = PrettyTable(["station", "celsius"])
    for record in records:
        table.add_row([record.station, record.celsius])
    return table.get_string()
