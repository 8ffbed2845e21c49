"""The composition root: settings to adapters to workflows to surfaces. The only place that knows everything; must not decide anything."""
