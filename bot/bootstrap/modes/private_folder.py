"""A private temporary folder for data that must not outlive the process, however that ends.

A process that is killed cannot tidy up, and SQLite needs a file with a name. So each folder is locked by the process
that uses it, and the next process removes the folders that no one holds. Folders of other users are left alone.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "precedent-replay-"
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def treat_signals_as_interrupt() -> Iterator[None]:
    """End as with Ctrl-C on SIGTERM, or on SIGHUP when the terminal is gone, so that cleanup still runs. A second
    signal does not interrupt the cleanup."""

    def once(*_signal: object) -> None:
        for number in ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as nohup asks
            signal.signal(number, once)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def open_private_folder() -> Iterator[Path]:
    """Create a temporary folder that only this user may enter, and remove it at the end. Raises OSError if none can be
    created."""
    remove_unused_folders(Path(tempfile.gettempdir()))
    while True:
        with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
            folder = Path(name)
            with _hold_folder(folder, wait=True) as held:
                if held or folder.exists():  # where nothing can be locked nothing is swept
                    yield folder
                    return
            # between being made and being held it was taken for a left one


def remove_unused_folders(where: Path) -> None:
    """Remove this user's folders that no process uses."""
    for folder in where.glob(f"{PREFIX}*"):
        with _hold_folder(folder, wait=False) as held:
            if held:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _hold_folder(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Lock a folder of this user's while this process lives; yield False if it belongs to another user, is in use, or
    is gone."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        yield _try_lock(handle, folder, wait=wait)
    finally:
        os.close(handle)


def _try_lock(handle: int, folder: Path, *, wait: bool) -> bool:
    if os.fstat(handle).st_uid != os.geteuid():
        return False
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return folder.exists()
    return False
