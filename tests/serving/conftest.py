"""Tests of what only a real server can get wrong: framing, connections, limits over several processes."""

from support.server_fixtures import cast, other_cast, performer, server, settings

__all__ = ["cast", "other_cast", "performer", "server", "settings"]
