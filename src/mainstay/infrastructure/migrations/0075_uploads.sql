-- One-time addresses to which programs send files. An address is found by the hash of its secret, and its row is deleted
-- when it is used.
CREATE TABLE upload (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    hash text NOT NULL,
    -- Who asked for it, with whose rights the file is added: a key, a connection or a person.
    credential text NOT NULL,
    -- The record that gets the file, and what the file will be called and who sees it.
    record_id text NOT NULL,
    name text NOT NULL,
    -- The type that the file must have; null for any.
    media_type text,
    visibility text NOT NULL,
    expires_at text NOT NULL,
    PRIMARY KEY (organisation_id, id)
);
CREATE UNIQUE INDEX upload_by_hash ON upload (hash);
CREATE INDEX upload_by_credential ON upload (organisation_id, credential);
CREATE INDEX upload_by_age ON upload (expires_at);
