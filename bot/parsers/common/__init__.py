"""What every parser shares: labels, symptoms, titles, places, fingerprints. Must not know any single tool."""
