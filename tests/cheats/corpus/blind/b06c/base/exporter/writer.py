import csv
import io

from exporter.model import Invoice

HEADER = ["number", "date", "customer", "net", "vat"]


def money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def to_csv(invoices: list[Invoice]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for inv in sorted(invoices, key=lambda i: i.number):
        writer.writerow([inv.number, inv.day.isoformat(), inv.customer, money(inv.net)])
    return out.getvalue()
