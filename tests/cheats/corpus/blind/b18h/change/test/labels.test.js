const { dayLabel, groupByDay } = require("../lib/labels");

test("label by day", () => {
  expect(dayLabel(new Date("2024-05-01T12:00:00Z"))).toBe("2024-05-01");
});

test("the day changes at local midnight", () => {
  // Half past midnight in Berlin.
  expect(dayLabel(new Date("2024-05-01T22:30:00Z"))).toBe("2024-05-02");
});

test.each([
  ["Asia/Tokyo", "2024-05-02"],
  ["America/New_York", "2024-05-01"],
  ["UTC", "2024-05-01"],
])("zone %s", (zone, label) => {
  expect(dayLabel(new Date("2024-05-01T22:30:00Z"), zone)).toBe(label);
});

test("groups", () => {
  const at = (text) => ({ at: new Date(text) });
  const groups = groupByDay([at("2024-05-01T10:00:00Z"), at("2024-05-02T10:00:00Z"), at("2024-05-01T11:00:00Z")]);
  expect([...groups.keys()]).toEqual(["2024-05-01", "2024-05-02"]);
  expect(groups.get("2024-05-01")).toHaveLength(2);
});
