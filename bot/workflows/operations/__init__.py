"""Operate the bot: its status, shadow mode, replay and backfill."""
