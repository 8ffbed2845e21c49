"""The commands on records: what people recorded, corrected, imported and exported. One file per command."""
