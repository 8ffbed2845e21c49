"""`python -m bot`. Must not do anything but start the command line."""

from bot.cli import main

main()
