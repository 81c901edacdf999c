"""Tests of operations alone: no worker follows up what they do."""

from support.quiet_installation import performer, settings

__all__ = ["performer", "settings"]
