"""The brief as Block Kit: layout, sections, evidence, buttons. Must not hold code of its own."""
