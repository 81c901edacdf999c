-- Whether the person asked to stay signed in on this device.
ALTER TABLE session ADD COLUMN kept bigint NOT NULL DEFAULT 0;
