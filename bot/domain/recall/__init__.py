"""The recall query, similarity, ranking, and people's feedback on precedents. Must not hold code of its own."""
