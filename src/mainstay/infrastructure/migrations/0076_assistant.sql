-- The built-in assistant: which model an organisation uses (its own, the operator's or none), and what that may cost.
ALTER TABLE organisation ADD COLUMN assistant_source text NOT NULL DEFAULT 'installation';
ALTER TABLE organisation ADD COLUMN assistant_address text;
ALTER TABLE organisation ADD COLUMN assistant_dialect text NOT NULL DEFAULT 'chat';
ALTER TABLE organisation ADD COLUMN assistant_model text;
-- The key of the organisation's own model, encrypted by the installation.
ALTER TABLE organisation ADD COLUMN assistant_key text;
ALTER TABLE organisation ADD COLUMN assistant_context_tokens bigint NOT NULL DEFAULT 128000;
ALTER TABLE organisation ADD COLUMN assistant_daily_tokens bigint NOT NULL DEFAULT 1000000;
ALTER TABLE organisation ADD COLUMN assistant_monthly_tokens bigint NOT NULL DEFAULT 20000000;
ALTER TABLE organisation ADD COLUMN assistant_retention_days bigint NOT NULL DEFAULT 90;

-- What a person talks about with the assistant. Only that person reads it.
CREATE TABLE conversation (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    person_id text NOT NULL,
    title text NOT NULL,
    -- Whether the assistant may only read, or also change what the person may change.
    access text NOT NULL,
    created_at text NOT NULL,
    -- When the latest question was asked.
    asked_at text NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX conversation_by_person ON conversation (organisation_id, person_id, asked_at, id);
CREATE INDEX conversation_by_age ON conversation (organisation_id, asked_at);

-- A question and the work on its answer. A server process works on it for as long as it holds the lease.
CREATE TABLE conversation_turn (
    organisation_id text NOT NULL,
    id text NOT NULL,
    conversation_id text NOT NULL,
    -- The sign-in of the browser that asked. When it ends, the turn ends.
    session_id text NOT NULL,
    question text NOT NULL,
    -- The record whose page the question was asked on.
    record_id text,
    status text NOT NULL,
    -- Why it ended early, as a message in JSON.
    problem text,
    stop_requested bigint NOT NULL DEFAULT 0,
    lease text,
    leased_until text,
    model_calls bigint NOT NULL DEFAULT 0,
    tool_calls bigint NOT NULL DEFAULT 0,
    tokens bigint NOT NULL DEFAULT 0,
    -- The milliseconds that were worked on it, without the time in which it waited for its person.
    worked_ms bigint NOT NULL DEFAULT 0,
    created_at text NOT NULL,
    ended_at text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, conversation_id) REFERENCES conversation (organisation_id, id)
);
CREATE INDEX conversation_turn_by_conversation ON conversation_turn (organisation_id, conversation_id, id);
CREATE INDEX conversation_turn_by_lease ON conversation_turn (leased_until) WHERE status = 'working';

-- What happened in a turn, one step after another: what the model said, what a tool answered, what a person decides.
CREATE TABLE conversation_step (
    organisation_id text NOT NULL,
    turn_id text NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    content text NOT NULL,
    created_at text NOT NULL,
    PRIMARY KEY (organisation_id, turn_id, number),
    FOREIGN KEY (organisation_id, turn_id) REFERENCES conversation_turn (organisation_id, id)
);

-- The tokens that people used, by day.
CREATE TABLE assistant_usage (
    organisation_id text NOT NULL REFERENCES organisation (id),
    day text NOT NULL,
    person_id text NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (organisation_id, day, person_id)
);
