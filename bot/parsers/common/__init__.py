"""Readings that all parsers share: labels, symptoms, titles, places, fingerprints."""
