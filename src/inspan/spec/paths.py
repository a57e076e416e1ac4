"""Where state lives. The only place that knows the layout of the state directory.

::

    $INSPAN_HOME (default: the platform's user data directory)
    ├── inspan.db                     tables and the durable engine's own tables (SQLite, WAL)
    ├── executors/<id>.lock           one flock per live driver
    ├── repos/<key>/gate.git          the trusted side's bare repository, alternates to the user's objects
    ├── repos/<key>/pristine/<base>   immutable raw checkout of one base, the overlay's lower layer
    ├── repos/<key>/setup/<key>       a frozen set-up layer
    ├── detached.log                  what drivers without a terminal have to say
    ├── attempts/<attempt>/           one attempt: request, lock, journals, terminal record, workspace
    ├── shown/<what>.json             what was shown to work on this machine, with all it depends on
    ├── artifacts/<aa>/<sha256>       content-addressed artifacts
    └── harness/<name>/<version>      installed harness programs
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class AttemptPaths(NamedTuple):
    """Files of one attempt's directory. The directory is 0700; only ``workspace`` is ever shown inside a sandbox."""

    root: Path

    @property
    def request(self) -> Path:
        """The frozen request, written before the runner starts."""
        return self.root / "request.json"

    @property
    def lock(self) -> Path:
        """Held (flock) by the runner for its whole life."""
        return self.root / "lock"

    @property
    def cancel(self) -> Path:
        """Its existence asks the runner to stop; written by any process."""
        return self.root / "cancel"

    @property
    def record(self) -> Path:
        """The terminal record; appears by atomic rename, once."""
        return self.root / "record.json"

    @property
    def events(self) -> Path:
        """Normalised harness events, one JSON document a line."""
        return self.root / "events.jsonl"

    @property
    def wire(self) -> Path:
        """One line per model request, written by the gateway."""
        return self.root / "wire.jsonl"

    @property
    def stdout(self) -> Path:
        """Raw standard output of the harness, capped and redacted."""
        return self.root / "stdout.log"

    @property
    def stderr(self) -> Path:
        """Raw standard error of the harness, capped and redacted."""
        return self.root / "stderr.log"

    @property
    def runner_log(self) -> Path:
        """What the runner itself has to say."""
        return self.root / "runner.log"

    @property
    def setup_note(self) -> Path:
        """Where a set-up that runs for this attempt has its workspace; there while it runs."""
        return self.root / "setup.json"

    @property
    def workspace(self) -> Path:
        """The workspace's directory; see ``inspan.workspace``."""
        return self.root / "ws"

    @property
    def home(self) -> Path:
        """The scratch HOME of the agent."""
        return self.root / "home"


class State(NamedTuple):
    """The state directory. Nothing is created by naming a path."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "inspan.db"

    @property
    def executors(self) -> Path:
        return self.root / "executors"

    @property
    def detached_log(self) -> Path:
        return self.root / "detached.log"

    @property
    def artifacts(self) -> Path:
        return self.root / "artifacts"

    @property
    def shown(self) -> Path:
        return self.root / "shown"

    @property
    def attempts(self) -> Path:
        return self.root / "attempts"

    @property
    def harness(self) -> Path:
        return self.root / "harness"

    def repo(self, key: str) -> Path:
        """Everything kept about one repository; ``key`` comes from ``inspan.workspace``."""
        return self.root / "repos" / key

    def attempt(self, attempt: str) -> AttemptPaths:
        """The paths of one attempt, ``<job>.a<n>``."""
        return AttemptPaths(self.attempts / attempt)


def state() -> State:
    """The state directory in force: ``INSPAN_HOME``, else the platform's user data directory."""
    override = os.environ.get("INSPAN_HOME")
    if override:
        return State(Path(override).expanduser().absolute())
    from platformdirs import user_data_path

    return State(user_data_path("inspan", appauthor=False))


def user_config() -> Path:
    """The user's own configuration file; ``INSPAN_CONFIG`` overrides it. Trusted, unlike the repository's file."""
    override = os.environ.get("INSPAN_CONFIG")
    if override:
        return Path(override).expanduser().absolute()
    from platformdirs import user_config_path

    return user_config_path("inspan", appauthor=False) / "config.toml"


REPOSITORY_CONFIG = "inspan.toml"
"""The repository's own configuration file at its top level; untrusted, read from the checkout at submission."""
