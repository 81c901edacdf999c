-- The feed since a moment.
CREATE INDEX event_by_moment ON event (organisation_id, created_at, sequence);
