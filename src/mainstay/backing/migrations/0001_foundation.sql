-- Rows of an organisation are keyed by it: a foreign key can then not even point at another organisation's row.
-- Moments are RFC 3339 text in UTC, whose order is the order of time; `created_by` and `updated_by` keep who it was, as JSON.

CREATE TABLE organisation (
    id text NOT NULL PRIMARY KEY,
    name text NOT NULL,
    legal_name text,
    tax_number text,
    address text,
    email text,
    phone text,
    country text NOT NULL,
    currency text NOT NULL,
    time_zone text NOT NULL,
    subscription text NOT NULL CHECK (subscription IN ('active', 'inactive')),
    event_sequence bigint NOT NULL DEFAULT 0,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL
);

-- A sign-in. One account may be a person of several organisations.
CREATE TABLE account (
    id text NOT NULL PRIMARY KEY,
    email text NOT NULL UNIQUE,
    password_hash text NOT NULL,
    created_at text NOT NULL
);

CREATE TABLE person (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    account_id text REFERENCES account (id),
    name text NOT NULL,
    email text NOT NULL,
    email_folded text NOT NULL,
    phone text,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'office', 'member', 'subcontractor')),
    status text NOT NULL CHECK (status IN ('invited', 'active', 'left')),
    skills text NOT NULL,
    colour text,
    company_name text,
    cost_rate bigint,
    bill_rate bigint,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, email_folded)
);
CREATE INDEX person_current ON person (organisation_id, id) WHERE status <> 'left';
CREATE INDEX person_by_status ON person (organisation_id, status, id);
CREATE INDEX person_by_role ON person (organisation_id, role, id);
CREATE INDEX person_by_account ON person (account_id);

CREATE TABLE api_key (
    organisation_id text NOT NULL,
    id text NOT NULL,
    person_id text NOT NULL,
    name text NOT NULL,
    access text NOT NULL CHECK (access IN ('read', 'write')),
    hash text NOT NULL UNIQUE,
    last_four text NOT NULL,
    created_at text NOT NULL,
    last_used_at text,
    revoked_at text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX api_key_by_person ON api_key (organisation_id, person_id);

-- What happened, in the order in which it happened: read by the catch-up feed and by webhooks.
CREATE TABLE event (
    organisation_id text NOT NULL REFERENCES organisation (id),
    sequence bigint NOT NULL,
    id text NOT NULL,
    type text NOT NULL,
    created_at text NOT NULL,
    actor text NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (organisation_id, sequence),
    UNIQUE (organisation_id, id)
);
CREATE INDEX event_by_age ON event (created_at);

-- Work that follows a committed change: done by the worker, at its own pace.
CREATE TABLE outbox (
    id text NOT NULL PRIMARY KEY,
    organisation_id text NOT NULL REFERENCES organisation (id),
    kind text NOT NULL,
    payload text NOT NULL,
    due_at text,
    attempts bigint NOT NULL DEFAULT 0
);
CREATE INDEX outbox_by_due ON outbox (due_at);

CREATE TABLE audit (
    organisation_id text NOT NULL REFERENCES organisation (id),
    sequence bigint NOT NULL,
    at text NOT NULL,
    actor text NOT NULL,
    request_id text NOT NULL,
    operation text NOT NULL,
    given text NOT NULL,
    events text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (organisation_id, sequence)
);

-- The answers to writes that carried an idempotency key.
CREATE TABLE replay (
    organisation_id text NOT NULL REFERENCES organisation (id),
    credential text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    answer text NOT NULL,
    version bigint,
    created_at text NOT NULL,
    PRIMARY KEY (organisation_id, credential, key)
);
CREATE INDEX replay_by_age ON replay (created_at);
