-- Where events are sent to, and what became of each sending.
CREATE TABLE webhook (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    url text NOT NULL,
    description text,
    -- The kinds of events that are sent, as a JSON list; null for all.
    events text,
    -- Paused by a person, it keeps what happens for later; disabled by us, it keeps nothing.
    status text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
    disabled_reason text,
    -- The secret is derived from the id and this number; the one before signs too for a while after a rotation.
    generation bigint NOT NULL DEFAULT 1,
    rotated_at text,
    -- Since when every attempt has failed.
    failing_since text,
    -- 1 while the last attempt succeeded: only then are several sent at once.
    trusted bigint NOT NULL DEFAULT 0,
    -- When the earliest of its deliveries falls due, and when it last had its turn.
    due_at text,
    served_at text NOT NULL DEFAULT '',
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX webhook_by_due ON webhook (due_at) WHERE status = 'active';

-- One event for one webhook.
CREATE TABLE delivery (
    organisation_id text NOT NULL,
    id text NOT NULL,
    webhook_id text NOT NULL,
    event_id text NOT NULL,
    event_type text NOT NULL,
    -- The body of a test event, which happened to nobody and is in no feed.
    test_body text,
    status text NOT NULL CHECK (status IN ('waiting', 'sending', 'delivered', 'failed')),
    -- When it is tried next; while it is being sent, when whoever sends it must have died.
    due_at text,
    -- Attempts in all, and those of the present row of retries, which begins anew when it is asked for again.
    attempts bigint NOT NULL DEFAULT 0,
    retries bigint NOT NULL DEFAULT 0,
    created_at text NOT NULL,
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, event_id, webhook_id),
    FOREIGN KEY (organisation_id, webhook_id) REFERENCES webhook (organisation_id, id) ON DELETE CASCADE
);
CREATE INDEX delivery_by_webhook ON delivery (organisation_id, webhook_id, id);
CREATE INDEX delivery_by_status ON delivery (organisation_id, webhook_id, status, id);
CREATE INDEX delivery_due ON delivery (organisation_id, webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_sending ON delivery (organisation_id, webhook_id) WHERE status = 'sending';
CREATE INDEX delivery_by_age ON delivery (created_at);

CREATE TABLE delivery_attempt (
    organisation_id text NOT NULL,
    delivery_id text NOT NULL,
    number bigint NOT NULL,
    at text NOT NULL,
    -- What was answered, or the kind of error that was met instead.
    status bigint,
    error text,
    duration_ms bigint NOT NULL,
    answer text NOT NULL,
    PRIMARY KEY (organisation_id, delivery_id, number),
    FOREIGN KEY (organisation_id, delivery_id) REFERENCES delivery (organisation_id, id) ON DELETE CASCADE
);

-- The feed of one kind.
CREATE INDEX event_by_type ON event (organisation_id, type, sequence);

-- Rows that workers pass one after another, so that they agree on who does what.
CREATE TABLE turnstile (
    name text NOT NULL PRIMARY KEY,
    passed_at text NOT NULL
);
INSERT INTO turnstile (name, passed_at) VALUES ('outbox', ''), ('webhooks', '');
