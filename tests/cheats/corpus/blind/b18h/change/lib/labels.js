"use strict";

/**
 * "2024-05-01" for the day on which the moment falls in the given time zone
 * (default: the system's).
 */
function dayLabel(moment, timeZone = undefined) {
  const parts = new Intl.DateTimeFormat("en", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  }).formatToParts(moment);
  const get = (type) => parts.find((p) => p.type === type).value;
  return `${get("year").padStart(4, "0")}-${get("month")}-${get("day")}`;
}

function groupByDay(events, timeZone = undefined) {
  const groups = new Map();
  for (const event of events) {
    const label = dayLabel(event.at, timeZone);
    if (!groups.has(label)) groups.set(label, []);
    groups.get(label).push(event);
  }
  return groups;
}

module.exports = { dayLabel, groupByDay };
