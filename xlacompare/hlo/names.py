"""Names for what a text leaves without one."""

from __future__ import annotations


class FreeNames:
    """Gives out names that nothing else has: `add`, `add.1`, `add.2`, …"""

    __slots__ = ("_counts", "taken")

    def __init__(self, taken: set[str] | None = None) -> None:
        self.taken = set() if taken is None else taken
        # Without it the search for a free number would start over for each of ten thousand equal names.
        self._counts: dict[str, int] = {}

    def free(self, name: str) -> str:
        """Return `name`, numbered if it is taken, and take it."""
        candidate = name
        while candidate in self.taken:
            count = self._counts[name] = self._counts.get(name, 0) + 1
            candidate = f"{name}.{count}"
        self.taken.add(candidate)
        return candidate
