-- The mails about a record, and what became of each; its id is that of the work in the outbox that sends it.
CREATE TABLE message (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    record_id text NOT NULL,
    recipient text NOT NULL,
    subject text NOT NULL,
    status text NOT NULL CHECK (status IN ('queued', 'sent', 'failed')),
    problem text,
    created_at text NOT NULL,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX message_by_record ON message (organisation_id, record_id, id);

-- What a piece of work is in people's words, and when it failed last. What is parked is listed by organisation.
ALTER TABLE outbox ADD COLUMN about text;
ALTER TABLE outbox ADD COLUMN failed_at text;
DROP INDEX outbox_parked;
CREATE INDEX outbox_parked ON outbox (organisation_id, id) WHERE due_at IS NULL;
