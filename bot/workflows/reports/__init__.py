"""The digest and the usefulness report. Must not hold code of its own."""
