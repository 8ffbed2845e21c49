"""Language models, asked with a deadline. Must not choose what is asked."""
