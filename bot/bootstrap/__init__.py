"""The composition root: the only package that knows everything. It builds adapters from the settings, use cases from
adapters, and runs them; it decides nothing."""
