"""The level of an attempt is asked for once more, of the proof of the started tree, before a prompt is handed over."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from attempts import require, run

from inspan.attempt.files import read_record
from inspan.spec.paths import AttemptPaths

HERE = Path(__file__).resolve().parent
STEPS = [{"print": {"type": "start"}}, {"print": {"type": "end", "ok": True, "message": "done"}}]
LYING = textwrap.dedent(
    """
    import sys
    sys.path[:0] = {paths!r}
    from pathlib import Path
    import msgspec
    from attempts import request
    from inspan.attempt.execution import Parts, Secrets
    from inspan.attempt.runner import real_parts, run
    from inspan.sandbox.unconfined import NoneDriver
    from inspan.spec.paths import AttemptPaths
    paths = AttemptPaths(Path({root!r}))
    paths.request.write_bytes(msgspec.json.encode(request(paths, {level!r}, {steps!r})))
    parts = real_parts()
    run(paths, lambda: parts._replace(driver=lambda level: NoneDriver()) if {lies!r} else parts, Secrets(), lambda: False)
    """
)


def test_a_level_below_the_minimum_gets_no_prompt(tmp_path: Path) -> None:
    refused = run(tmp_path, "none", STEPS, minimum="sandbox")
    assert (refused.end, refused.listener) == ("sandbox_unavailable", None)
    assert refused.detail is not None and "minimum sandbox" in refused.detail
    assert run(tmp_path, "none", STEPS, name="j1.a2", minimum="none").end in ("exited", "finished")  # control


def test_a_driver_that_confines_nothing_gets_no_prompt(tmp_path: Path) -> None:
    require("sandbox", tmp_path)
    for lies, ends in ((True, ("sandbox_unavailable",)), (False, ("exited", "finished"))):
        root = tmp_path / "attempts" / f"j1.a{int(lies)}"
        script = LYING.format(
            paths=[str(HERE), str(HERE.parent)], root=str(root), level="sandbox", lies=lies, steps=STEPS
        )
        subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
        record = read_record(AttemptPaths(root))
        assert record is not None and record.end in ends, record
        if lies:
            assert "not proved" in (record.detail or "") and record.listener is None
