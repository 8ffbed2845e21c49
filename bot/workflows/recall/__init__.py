"""Recalling precedents, with people's feedback applied. Must not hold code of its own."""
