"""The brief as Block Kit: layout, sections, evidence, buttons."""
