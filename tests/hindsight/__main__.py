"""`python -m tests.hindsight VENV COMMAND…`: start a server, run the command with its address, stop the server."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from tests.hindsight.server import described, new


def main() -> int:
    venv, command = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="hindsight-", ignore_cleanup_errors=True) as work:
        server = new(venv, work)
        begun = time.monotonic()
        try:
            server.start()
            sys.stderr.write(f"Hindsight started in {time.monotonic() - begun:.0f} s at {server.url}\n")
            env = {"TEST_HINDSIGHT_URL": server.url, "TEST_HINDSIGHT_STATE": str(server.state)}
            return subprocess.run(command, env=os.environ | env, check=False).returncode
        finally:
            # A test may have started the API anew: the file knows the pid.
            (described(str(server.state)) if server.state.exists() else server).stop()


if __name__ == "__main__":
    sys.exit(main())
