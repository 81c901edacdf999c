"""What only a real server can get wrong: framing, connections, limits over several processes."""

from served import cast, server, settings, stage, stranger

__all__ = ["cast", "server", "settings", "stage", "stranger"]
