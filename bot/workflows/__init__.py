"""One use case each: a frozen dataclass of ports with one public coroutine. Must not import each other or a vendor."""
