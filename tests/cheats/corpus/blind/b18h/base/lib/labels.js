"use strict";

/** "2024-05-01" for the day on which the moment falls. */
function dayLabel(moment) {
  return moment.toISOString().slice(0, 10);
}

function groupByDay(events) {
  const groups = new Map();
  for (const event of events) {
    const label = dayLabel(event.at);
    if (!groups.has(label)) groups.set(label, []);
    groups.get(label).push(event);
  }
  return groups;
}

module.exports = { dayLabel, groupByDay };
