-- How many of the events that were numbered are kept no longer: with those that are there, they are all.
ALTER TABLE organisation ADD COLUMN events_forgotten bigint NOT NULL DEFAULT 0;
UPDATE organisation SET events_forgotten = event_sequence
    - (SELECT count(*) FROM event WHERE event.organisation_id = organisation.id);
