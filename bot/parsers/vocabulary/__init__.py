"""Words that monitoring tools and people use, as tables in several languages. Must not look at a whole message."""
