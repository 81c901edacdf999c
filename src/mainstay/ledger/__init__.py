"""Floor 2: what is written beside every change: its stamp, its events, the outbox, the trail and the replay."""
