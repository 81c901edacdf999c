-- Whether irreversible operations of this key or app wait until its person confirms them in the office.
ALTER TABLE api_key ADD COLUMN confirms_in_office bigint NOT NULL DEFAULT 0;
ALTER TABLE connection ADD COLUMN confirms_in_office bigint NOT NULL DEFAULT 0;

-- What a program asked for, until its person confirms it.
CREATE TABLE confirmation (
    organisation_id text NOT NULL,
    id text NOT NULL,
    person_id text NOT NULL,
    -- The key or connection, and the door through which it came.
    credential text NOT NULL,
    door text NOT NULL,
    operation text NOT NULL,
    given text NOT NULL,
    idempotency_key text,
    expires_at text NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX confirmation_by_person ON confirmation (organisation_id, person_id);
CREATE INDEX confirmation_by_age ON confirmation (expires_at);
