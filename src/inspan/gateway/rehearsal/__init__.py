"""The rehearsal: a scripted model in process, on every wire, at no cost and with no network."""

from __future__ import annotations

from inspan.gateway.rehearsal.scenario import Scenario, load_scenario
from inspan.gateway.rehearsal.source import RehearsalSource

__all__ = ["RehearsalSource", "Scenario", "load_scenario"]
