"""Puts the sample data of demo and playground, and the app's manifest, into what is installed.

They lie at the top of the checkout, where people look for them; a wheel carries them as bot/_files. Everything else about the
package is in pyproject.toml.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

TOP = Path(__file__).parent
CARRIED = ("manifest.yml", "seeds")


class BuildWithFiles(build_py):
    """As always, and the files. An editable installation reads them where they are."""

    def run(self) -> None:
        """Build, then add the files."""
        super().run()
        if self.editable_mode:
            return
        for name in CARRIED:
            source, target = TOP / name, Path(self.build_lib) / "bot" / "_files" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy2(source, target)


setup(cmdclass={"build_py": BuildWithFiles})
