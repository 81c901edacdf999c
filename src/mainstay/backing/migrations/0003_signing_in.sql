-- How people come in. These tables are read before the organisation is known, and so are not fenced by it.
-- Only hashes of secrets are kept; a one-time link is derived from its id and the installation's secret.

-- The last success, from which failed attempts are counted anew.
ALTER TABLE account ADD COLUMN signed_in_at text;

CREATE TABLE session (
    hash text NOT NULL PRIMARY KEY,
    id text NOT NULL UNIQUE,
    account_id text NOT NULL REFERENCES account (id),
    organisation_id text REFERENCES organisation (id),
    browser text NOT NULL,
    created_at text NOT NULL,
    seen_at text NOT NULL
);
CREATE INDEX session_by_account ON session (account_id);
CREATE INDEX session_by_age ON session (seen_at);

CREATE TABLE one_time_link (
    id text NOT NULL PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('invitation', 'reset')),
    -- Where it was sent: it proves that mailbox and no other.
    email text NOT NULL,
    -- Whom an invitation is for.
    organisation_id text,
    person_id text,
    -- Whose password is reset; null when nobody is known by that address, so that asking costs the same.
    account_id text REFERENCES account (id),
    expires_at text NOT NULL,
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX one_time_link_by_person ON one_time_link (organisation_id, person_id);
CREATE INDEX one_time_link_by_account ON one_time_link (account_id);
CREATE INDEX one_time_link_by_age ON one_time_link (expires_at);

-- Where someone wanted to go before signing in.
CREATE TABLE return_ticket (
    hash text NOT NULL PRIMARY KEY,
    path text NOT NULL,
    expires_at text NOT NULL
);
CREATE INDEX return_ticket_by_age ON return_ticket (expires_at);
