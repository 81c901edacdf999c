-- What falls due in the same moment, as all that one change tells does, is sent in the order in which it happened.
DROP INDEX delivery_due;
CREATE INDEX delivery_due ON delivery (organisation_id, webhook_id, due_at, id) WHERE due_at IS NOT NULL;
