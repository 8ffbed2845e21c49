"""Why a post was read as it was. Must not read anything differently from the reader itself."""
