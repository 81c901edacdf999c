-- Each kind of task has a lane of its own, and organisations take turns within a lane.
ALTER TABLE outbox ADD COLUMN lane text NOT NULL DEFAULT 'events';
-- 0: someone waits for it. 1: due, done when its organisation's turn comes. 2: waits until due_at, is being done, or failed.
ALTER TABLE outbox ADD COLUMN turn integer NOT NULL DEFAULT 2;
-- Since when a worker has been doing it. It is taken again if the worker neither finishes nor fails before due_at.
ALTER TABLE outbox ADD COLUMN taken_at text;
-- How often a worker died while doing it.
ALTER TABLE outbox ADD COLUMN lost_leases integer NOT NULL DEFAULT 0;

UPDATE outbox SET lane = 'prints' WHERE kind = 'print' OR (kind = 'mail' AND payload LIKE '%"paper":"_%');
UPDATE outbox SET lane = 'emails' WHERE kind = 'mail' AND lane = 'events';
UPDATE outbox SET lane = 'days' WHERE kind = 'timer';

DROP INDEX outbox_by_due;
CREATE INDEX outbox_by_due ON outbox (lane, turn, due_at);
CREATE INDEX outbox_by_turn ON outbox (lane, turn, organisation_id, due_at, id);
CREATE INDEX outbox_taken ON outbox (lane, organisation_id) WHERE taken_at IS NOT NULL;

-- Whoever takes tasks no longer waits for others who do.
DELETE FROM turnstile WHERE name = 'outbox';
