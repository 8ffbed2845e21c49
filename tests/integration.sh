#!/usr/bin/env bash
# Start the real services that the integration tests meet, on loopback and free ports, run the tests, and stop them.
# A service that is not installed is skipped with a reason; REQUIRE_SERVICES=1 makes that a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
work=$(mktemp -d)
chmod 755 "$work"
started=""

stop() {
  [ -z "$started" ] || as_postgres "$started/pg_ctl" -D "$work/pg" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap stop EXIT

as_postgres() {
  if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

free_port() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1 || true)
if [ -n "$bin" ]; then
  port=$(free_port)
  mkdir "$work/pg"
  [ "$(id -u)" != 0 ] || chown postgres "$work/pg"
  as_postgres "$bin/initdb" -D "$work/pg" -U precedent --auth=trust --encoding=UTF8 >/dev/null
  as_postgres "$bin/pg_ctl" -D "$work/pg" -l "$work/pg/log" -w -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=''" start >/dev/null
  started=$bin
  export TEST_POSTGRES_URL="postgresql+asyncpg://precedent@127.0.0.1:$port/postgres"
elif [ "${REQUIRE_SERVICES:-}" = 1 ]; then
  echo "PostgreSQL is not installed: apt install postgresql"
  exit 1
fi
if [ -z "${TEST_CHROMIUM:-}" ]; then
  TEST_CHROMIUM=$(command -v chromium || command -v chromium-browser || true)
fi
if [ -z "$TEST_CHROMIUM" ] && [ "${REQUIRE_SERVICES:-}" = 1 ]; then
  echo "Chromium is not installed: apt install chromium"
  exit 1
fi
export TEST_CHROMIUM

# A second server of metrics; the tests start it themselves.
if ! command -v victoria-metrics >/dev/null 2>&1 && [ "${REQUIRE_SERVICES:-}" = 1 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends victoria-metrics >/dev/null
  fi
  command -v victoria-metrics >/dev/null 2>&1 || { echo "VictoriaMetrics is not installed: apt install victoria-metrics"; exit 1; }
fi

# A journal gateway for log lines; the tests start it themselves.
gateway=/usr/lib/systemd/systemd-journal-gatewayd
if [ ! -x "$gateway" ] && [ "${REQUIRE_SERVICES:-}" = 1 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends systemd-journal-remote >/dev/null
  fi
  [ -x "$gateway" ] || { echo "the journal gateway is not installed: apt install systemd-journal-remote"; exit 1; }
fi

# The Hindsight server has a virtual environment of its own, kept between runs while its lock is the same.
hindsight=.integration/hindsight
lock=tests/hindsight/requirements-hindsight.lock
around=""
if ! cmp -s "$lock" "$hindsight/installed.lock" && [ "${HINDSIGHT_SERVER:-install}" = install ]; then
  echo "installing the Hindsight server into $hindsight (some minutes, once)"
  rm -rf "$hindsight"
  if "$python" -m venv "$hindsight/venv" && "$hindsight/venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"; then
    cp "$lock" "$hindsight/installed.lock"
  fi
fi
if cmp -s "$lock" "$hindsight/installed.lock"; then
  around="$python -m tests.hindsight $hindsight/venv"
elif [ "${REQUIRE_SERVICES:-}" = 1 ]; then
  echo "the Hindsight server is not installed in $hindsight"
  exit 1
fi

# shellcheck disable=SC2086
$around "$python" -m pytest -q -m integration -n auto --dist loadgroup
