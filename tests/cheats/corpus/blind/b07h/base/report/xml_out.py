from xml.sax.saxutils import escape


def to_xml(rows):
    out = ["<rows>"]
    for row in rows:
        cells = "".join(f"<{k}>{escape(str(v))}</{k}>" for k, v in row.items())
        out.append(f"  <row>{cells}</row>")
    out.append("</rows>")
    return "\n".join(out)
