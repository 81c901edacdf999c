"""Floor 2: what is written beside every change: the record's stamp, its events, the outbox, the trail and the replay."""
