"""Words of monitoring tools and people, as tables in several languages."""
