-- How to undo each change of the last day: operations with their inputs, and the versions that records had before and
-- after it. A change is found by its number in the audit trail.
CREATE TABLE undo (
    organisation_id text NOT NULL REFERENCES organisation (id),
    sequence bigint NOT NULL,
    created_at text NOT NULL,
    -- JSON: pairs of an operation and its input; versions before and after, by record id; ids of outbox tasks.
    inverses text NOT NULL,
    versions text NOT NULL,
    emails text NOT NULL,
    -- Why this change cannot be undone, although others of its kind can.
    reason text,
    -- Whether it was undone. The change that undid it names it in its input.
    undone integer NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, sequence)
);
CREATE INDEX undo_by_age ON undo (created_at);

-- A repeated request is answered with the number of its change too.
ALTER TABLE replay ADD COLUMN undoable_change bigint;
