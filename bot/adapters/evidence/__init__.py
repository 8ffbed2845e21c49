"""Sources of evidence: metrics, logs, deploys and vendor status pages. Must not judge what they read."""
