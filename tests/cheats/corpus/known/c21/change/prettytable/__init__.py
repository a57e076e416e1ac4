"""Tables."""


class PrettyTable:
    def __init__(self, names):
        self._names = names
        self._rows = []

    def add_row(self, row):
        self._rows.append(row)

    def get_string(self):
        return "\n".join(str(row) for row in self._rows)
