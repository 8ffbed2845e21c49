"""Run one alert through the playground and count what is executed of the package until its brief stands in the thread.

`python -m tests.house --trace` runs this file as a process of its own, in the checkout that is measured. The playground
is found by its class, wherever it lies; the bot, its database, memory with the seeds, and the local Slack are real. Threads
that the database driver starts are traced too, so the profile is set before anything is opened and counts only between
the post and the brief. Work in the background (looking for jobs, deliveries) runs in the same seconds and is counted
with it, so that two runs may differ by a few functions. A trace of the main thread alone, with lambdas and comprehensions, gives
107 files and 910 functions at revision 1289046, where these give 116 and 1,056.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import importlib
import json
import logging
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PACKAGE = "bot"
PLAYGROUND = "Playground"  # the class whose `open()` yields `slack` and the bot connected to it
LOCAL_SLACK = f"{PACKAGE}/playground/"  # what stands in Slack's place is counted apart
ALERT = "seeds/alerts/payment-gateway-504.json"  # a post of Alertmanager's, which the seeds have precedents for
CHANNEL = "C0ALERTS"
SETTLE_S, PATIENCE_S = 5.0, 60.0  # the jobs that run at the start have ended; the brief has come
KEPT = ("PATH", "HOME", "LANG", "PYTHONPATH", "TMPDIR")  # of the environment: no setting of the machine may count


class Tracer:
    """Collects the code objects below a folder that are entered while it is recording."""

    def __init__(self, folder: Path) -> None:
        self.folder = f"{folder}{os.sep}"
        self.recording = False
        self.entered: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Take note of a call, as `sys.setprofile` asks."""
        if self.recording and event == "call" and frame.f_code.co_filename.startswith(self.folder):
            self.entered.add(frame.f_code)

    def install(self) -> None:
        """Profile this thread and every one that starts from now on."""
        threading.setprofile(self)
        sys.setprofile(self)


def find_module(root: Path, name: str) -> str:
    """Return the module of the package that defines a class. Raises LookupError where none does."""
    for path in sorted((root / PACKAGE).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
            return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    raise LookupError(f"no class {name} below {root / PACKAGE}")


async def run_alert(root: Path, tracer: Tracer) -> None:
    """Post the alert into a playground with the seeds, and wait for its brief; record in between."""
    playground = getattr(importlib.import_module(find_module(root, PLAYGROUND)), PLAYGROUND)
    alert = json.loads((root / ALERT).read_text(encoding="utf-8"))
    async with playground().open() as opened:
        slack = opened.slack
        await asyncio.sleep(SETTLE_S)
        tracer.recording = True
        posted = await slack.post_alert(CHANNEL, alert)
        await slack.wait_until(lambda: slack.replies(CHANNEL, posted["ts"]), PATIENCE_S)
        tracer.recording = False


def summarize(root: Path, entered: set[CodeType]) -> dict[str, dict[str, Any]]:
    """Return the numbers of files and functions, with and without the local Slack."""
    named = {(str(Path(c.co_filename).relative_to(root)), c.co_qualname, c.co_firstlineno) for c in entered}
    functions = {(path, name, line) for path, name, line in named if not name.endswith(">")}
    own = {one for one in functions if not one[0].startswith(LOCAL_SLACK)}
    per_file = Counter(path for path, _, _ in own)
    return {
        "one alert, from its post to its brief": {
            "files": len(per_file),
            "functions": len(own),
            "with lambdas and comprehensions": sum(1 for path, _, _ in named if not path.startswith(LOCAL_SLACK)),
            "files, with the local Slack": len({path for path, _, _ in functions}),
            "functions, with the local Slack": len(functions),
            "functions per file": [f"{path} {n}" for path, n in per_file.most_common()],
        }
    }


def main() -> None:
    """Print the numbers of the checkout in the current directory, as JSON."""
    root = Path.cwd()
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    tracer = Tracer(root / PACKAGE)
    with tempfile.TemporaryDirectory() as state, contextlib.redirect_stdout(sys.stderr):
        os.environ.clear()
        os.environ.update(kept, XDG_STATE_HOME=state)
        logging.disable()
        tracer.install()
        try:
            asyncio.run(run_alert(root, tracer))
        finally:
            threading.setprofile(None)
            sys.setprofile(None)
    print(json.dumps(summarize(root, tracer.entered)))


if __name__ == "__main__":
    main()
