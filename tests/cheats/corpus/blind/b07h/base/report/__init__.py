from report.json_out import to_json
from report.xml_out import to_xml

__all__ = ["to_json", "to_xml"]
