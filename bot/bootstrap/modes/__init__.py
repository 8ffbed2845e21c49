"""Ways to run other than `serve`: playground, seeds, backfill, replay."""
