-- The whole schema as of step 63. What SQLite and PostgreSQL write differently is in the file of each beside this one:
-- the table audit_record, the tables of the search, and every trigger.
--
-- Rows of an organisation are keyed by its id, so a foreign key cannot even name a row of another organisation.
-- Moments (`_at`) are RFC 3339 text in UTC, so that they sort in the order of time; dates (`_on`) are ISO 8601 text.
-- Amounts of documents are whole numbers in the minor unit of their currency.
-- `created_by`, `updated_by` and `actor` say who acted, as JSON. `version` counts the changes of a record.


-- Organisations and people
-- ------------------------

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
    -- The number of the newest event.
    event_sequence bigint NOT NULL DEFAULT 0,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    -- When the next day begins at the organisation's place; daily tasks are done then.
    day_begins_at text NOT NULL DEFAULT '',
    registration_number text,
    logo text,
    -- What the organisation decides about its work. `grants` lists what its settings grant to some roles, by name.
    working_hours text NOT NULL DEFAULT '{"monday":[{"from":"08:00","until":"17:00"}],"tuesday":[{"from":"08:00","until":"17:00"}],"wednesday":[{"from":"08:00","until":"17:00"}],"thursday":[{"from":"08:00","until":"17:00"}],"friday":[{"from":"08:00","until":"17:00"}],"saturday":[],"sunday":[]}',
    grants text NOT NULL DEFAULT 'membersSeeTeamSchedule subcontractorsLogHours',
    hours_rounding_minutes bigint NOT NULL DEFAULT 0,
    books_closed_until text,
    -- What it decides about prices, quotes, invoices and emails.
    prices_include_tax bigint NOT NULL DEFAULT 0,
    default_tax_rate_id text,
    language text NOT NULL DEFAULT 'en',
    quote_valid_days bigint NOT NULL DEFAULT 30,
    quote_terms text,
    mail_texts text NOT NULL DEFAULT '{"quote":null}',
    bank text,
    e_invoice_address text,
    payment_terms_days bigint NOT NULL DEFAULT 14,
    invoice_notes text,
    -- How many events are kept no longer: with those that are there, they are all that were numbered.
    events_forgotten bigint NOT NULL DEFAULT 0,
    -- Added to the cost of materials that are not on the price list.
    materials_markup_percent bigint NOT NULL DEFAULT 0,
    -- How many bytes it stores: files with their thumbnails, and the logo.
    logo_bytes bigint NOT NULL DEFAULT 0,
    storage_bytes bigint NOT NULL DEFAULT 0
);
CREATE INDEX organisation_by_day ON organisation (day_begins_at);
CREATE INDEX organisation_by_logo ON organisation (logo) WHERE logo IS NOT NULL;

-- A sign-in. One account may be a person of several organisations.
CREATE TABLE account (
    id text NOT NULL PRIMARY KEY,
    email_folded text NOT NULL UNIQUE,
    password_hash text NOT NULL,
    created_at text NOT NULL,
    -- The last success; failed attempts are counted from then on.
    signed_in_at text,
    -- The address as it was given; `email_folded` is the form in which addresses are compared.
    email text NOT NULL DEFAULT ''
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
    name_folded text NOT NULL DEFAULT '',
    working_hours text,
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, email_folded)
);
CREATE INDEX person_current ON person (organisation_id, id) WHERE status <> 'left';
CREATE INDEX person_by_status ON person (organisation_id, status, id);
CREATE INDEX person_by_role ON person (organisation_id, role, id);
CREATE INDEX person_by_account ON person (account_id);
CREATE INDEX person_by_name ON person (organisation_id, name_folded, id);

-- The numbers by which people know records. One organisation's changes are serial, so the next number needs no lock.
CREATE TABLE number_series (
    organisation_id text NOT NULL REFERENCES organisation (id),
    kind text NOT NULL,
    prefix text NOT NULL,
    padding bigint NOT NULL,
    next bigint NOT NULL,
    PRIMARY KEY (organisation_id, kind)
);


-- Signing in, keys and connected apps
-- -----------------------------------
-- Of a secret only the hash is stored. Most of these tables are read before the organisation is known.

-- A browser that is signed in.
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

-- Browsers that have signed in to an account before: strangers who try passwords do not use up their attempts.
CREATE TABLE device (
    hash text NOT NULL PRIMARY KEY,
    account_id text NOT NULL REFERENCES account (id),
    created_at text NOT NULL
);
CREATE INDEX device_by_account ON device (account_id, created_at);
CREATE INDEX device_by_age ON device (created_at);

-- Links that are sent by email and work once. A link is derived from its id and the installation's secret.
CREATE TABLE one_time_link (
    id text NOT NULL PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('invitation', 'reset')),
    -- Where it was sent: it proves that mailbox and no other.
    email_folded text NOT NULL,
    -- Whom an invitation is for.
    organisation_id text,
    person_id text,
    -- Whose password is reset; null if nobody has this address, so that asking costs the same.
    account_id text REFERENCES account (id),
    expires_at text NOT NULL,
    email text NOT NULL DEFAULT '',
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX one_time_link_by_person ON one_time_link (organisation_id, person_id);
CREATE INDEX one_time_link_by_account ON one_time_link (account_id);
CREATE INDEX one_time_link_by_age ON one_time_link (expires_at);

-- Where someone wanted to go before signing in.
CREATE TABLE return_ticket (
    hash text NOT NULL PRIMARY KEY,
    path text NOT NULL,
    expires_at text NOT NULL,
    -- What was typed into a form after the session had ended, sealed, and for which account.
    typed text,
    account_id text
);
CREATE INDEX return_ticket_by_age ON return_ticket (expires_at);

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

-- Apps that registered themselves. An app belongs to no organisation until a person approves it for theirs.
CREATE TABLE oauth_client (
    id text NOT NULL PRIMARY KEY,
    metadata text NOT NULL,
    secret_hash text,
    created_at text NOT NULL,
    approved_at text
);
CREATE INDEX oauth_client_by_age ON oauth_client (created_at) WHERE approved_at IS NULL;

-- One approval: this app, this person, this organisation, this access. It is listed from its first exchange on.
CREATE TABLE connection (
    organisation_id text NOT NULL,
    id text NOT NULL,
    client_id text NOT NULL REFERENCES oauth_client (id),
    client_name text NOT NULL,
    person_id text NOT NULL,
    access text NOT NULL CHECK (access IN ('read', 'write')),
    created_at text NOT NULL,
    started_at text,
    last_used_at text,
    ended_at text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX connection_listed ON connection (organisation_id, id) WHERE started_at IS NOT NULL AND ended_at IS NULL;
CREATE INDEX connection_by_person ON connection (organisation_id, person_id, id);
CREATE INDEX connection_by_client ON connection (client_id);

-- What an app exchanges for its first tokens.
CREATE TABLE oauth_code (
    hash text NOT NULL PRIMARY KEY,
    organisation_id text NOT NULL,
    connection_id text NOT NULL,
    client_id text NOT NULL,
    redirect_uri text NOT NULL,
    challenge text NOT NULL,
    expires_at text NOT NULL,
    used_at text,
    FOREIGN KEY (organisation_id, connection_id) REFERENCES connection (organisation_id, id)
);
CREATE INDEX oauth_code_by_age ON oauth_code (expires_at);

-- Access and refresh tokens. A used refresh token stays here until it would have expired: a second use is theft.
CREATE TABLE oauth_token (
    hash text NOT NULL PRIMARY KEY,
    organisation_id text NOT NULL,
    connection_id text NOT NULL,
    client_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
    expires_at text NOT NULL,
    used_at text,
    FOREIGN KEY (organisation_id, connection_id) REFERENCES connection (organisation_id, id)
);
CREATE INDEX oauth_token_by_age ON oauth_token (expires_at);

-- Approval screens that were answered: an answer counts once.
CREATE TABLE oauth_ticket (
    nonce text NOT NULL PRIMARY KEY,
    expires_at text NOT NULL
);


-- What is written beside every change
-- -----------------------------------

-- What happened, in the order in which it happened. The feed and the webhooks read it.
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
CREATE INDEX event_by_type ON event (organisation_id, type, sequence);
CREATE INDEX event_by_moment ON event (organisation_id, created_at, sequence);

-- Tasks that follow a committed change; the worker does them. Each kind of task has its lane, and organisations take
-- turns within a lane.
CREATE TABLE outbox (
    id text NOT NULL PRIMARY KEY,
    organisation_id text NOT NULL REFERENCES organisation (id),
    kind text NOT NULL,
    payload text NOT NULL,
    due_at text,
    attempts bigint NOT NULL DEFAULT 0,
    -- Why it can never be done, what it is about in people's words, and when it last failed.
    problem text,
    about text,
    failed_at text,
    lane text NOT NULL DEFAULT 'events',
    -- 0: someone waits for it. 1: due, done when its organisation's turn comes. 2: waits until due_at, is being done,
    -- or failed.
    turn integer NOT NULL DEFAULT 2,
    -- Since when a worker has been doing it. It is taken again if the worker neither finishes nor fails before due_at.
    taken_at text,
    -- How often a worker died while doing it.
    lost_leases integer NOT NULL DEFAULT 0
);
CREATE INDEX outbox_parked ON outbox (organisation_id, id) WHERE due_at IS NULL;
CREATE INDEX outbox_by_due ON outbox (lane, turn, due_at);
CREATE INDEX outbox_by_turn ON outbox (lane, turn, organisation_id, due_at, id);
CREATE INDEX outbox_taken ON outbox (lane, organisation_id) WHERE taken_at IS NOT NULL;

-- Rows that workers lock one after another, so that they agree on who does what.
CREATE TABLE turnstile (
    name text NOT NULL PRIMARY KEY,
    passed_at text NOT NULL
);
INSERT INTO turnstile (name, passed_at) VALUES ('webhooks', '');

-- The emails about a record, and what became of each. The id is that of the task in the outbox that sends it.
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

-- What was done, by whom and with what. A trigger refuses to change or remove a row.
CREATE TABLE audit (
    organisation_id text NOT NULL REFERENCES organisation (id),
    sequence bigint NOT NULL,
    at text NOT NULL,
    actor text NOT NULL,
    request_id text NOT NULL,
    operation text NOT NULL,
    given text NOT NULL,
    events text NOT NULL,
    -- The hash of this entry and of the one before it, which makes the entries a chain.
    hash text NOT NULL,
    -- The records that the act touched.
    records text,
    person_id text,
    -- Which fields of which records it changed.
    changed text,
    -- By whose hand, and through which API key or connected app; both follow from `actor`.
    acted_by text NOT NULL DEFAULT 'person',
    client_id text,
    -- The hashes of the rows that it wrote.
    row_hashes text,
    PRIMARY KEY (organisation_id, sequence)
);
CREATE INDEX audit_by_person ON audit (organisation_id, person_id, at, sequence) WHERE person_id IS NOT NULL;
CREATE INDEX audit_by_client ON audit (organisation_id, client_id, at, sequence) WHERE client_id IS NOT NULL;
CREATE INDEX audit_by_hand ON audit (organisation_id, acted_by, at, sequence);
CREATE INDEX audit_by_moment ON audit (organisation_id, at, sequence);
CREATE INDEX audit_by_agents ON audit (organisation_id, at, sequence) WHERE client_id IS NOT NULL;

-- The answers to changes that carried an idempotency key.
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


-- Webhooks
-- --------

-- Where events are sent to.
CREATE TABLE webhook (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    url text NOT NULL,
    description text,
    -- The kinds of events that are sent, as a JSON list; null for all.
    events text,
    -- A webhook that a person paused keeps what happens for later; one that Mainstay disabled keeps nothing.
    status text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
    disabled_reason text,
    -- The secret is derived from the id and this number; the previous secret signs too for a while after a rotation.
    generation bigint NOT NULL DEFAULT 1,
    rotated_at text,
    -- Since when every attempt has failed.
    failing_since text,
    -- 1 while the last attempt succeeded: only then are several sent at once.
    trusted bigint NOT NULL DEFAULT 0,
    -- When the earliest of its deliveries is due, and when it last had its turn.
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
    -- The body of a test event, which is in no feed.
    test_body text,
    status text NOT NULL CHECK (status IN ('waiting', 'sending', 'delivered', 'failed')),
    -- When it is tried next; while it is being sent, when the sender must have died.
    due_at text,
    -- Attempts in all, and those of the present series of retries.
    attempts bigint NOT NULL DEFAULT 0,
    retries bigint NOT NULL DEFAULT 0,
    created_at text NOT NULL,
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, event_id, webhook_id),
    FOREIGN KEY (organisation_id, webhook_id) REFERENCES webhook (organisation_id, id) ON DELETE CASCADE
);
CREATE INDEX delivery_by_webhook ON delivery (organisation_id, webhook_id, id);
CREATE INDEX delivery_by_status ON delivery (organisation_id, webhook_id, status, id);
CREATE INDEX delivery_sending ON delivery (organisation_id, webhook_id) WHERE status = 'sending';
CREATE INDEX delivery_by_age ON delivery (created_at);
CREATE INDEX delivery_due ON delivery (organisation_id, webhook_id, due_at, id) WHERE due_at IS NOT NULL;

-- Each attempt to send a delivery.
CREATE TABLE delivery_attempt (
    organisation_id text NOT NULL,
    delivery_id text NOT NULL,
    number bigint NOT NULL,
    at text NOT NULL,
    -- The status of the answer, or else the kind of error.
    status bigint,
    error text,
    duration_ms bigint NOT NULL,
    answer text NOT NULL,
    -- The headers that were sent.
    headers text,
    PRIMARY KEY (organisation_id, delivery_id, number),
    FOREIGN KEY (organisation_id, delivery_id) REFERENCES delivery (organisation_id, id) ON DELETE CASCADE
);


-- Customers
-- ---------

CREATE TABLE customer (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    name_folded text NOT NULL,
    kind text NOT NULL,
    tax_number text,
    registration_number text,
    e_invoice_address text,
    reference text,
    email text,
    phone text,
    billing_address text,
    payment_terms_days bigint,
    language text,
    notes text,
    status text NOT NULL,
    merged_into_id text,
    external_ref text,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX customer_by_status ON customer (organisation_id, status, id);
CREATE INDEX customer_by_name ON customer (organisation_id, name_folded, id);
CREATE INDEX customer_by_status_and_name ON customer (organisation_id, status, name_folded, id);
CREATE UNIQUE INDEX customer_by_external_ref ON customer (organisation_id, external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX customer_that_was_merged ON customer (organisation_id, merged_into_id) WHERE merged_into_id IS NOT NULL;

-- What suggests that two customers are one: the same email address, phone number, name, tax number or postal address,
-- as they are compared.
CREATE TABLE customer_key (
    organisation_id text NOT NULL REFERENCES organisation (id),
    key text NOT NULL,
    customer_id text NOT NULL,
    -- Of the customers with the same key, all but the oldest repeat it.
    repeats bigint NOT NULL,
    PRIMARY KEY (organisation_id, key, customer_id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id)
);
CREATE INDEX customer_key_by_customer ON customer_key (organisation_id, customer_id);
CREATE INDEX customer_key_repeated ON customer_key (organisation_id, customer_id) WHERE repeats = 1;
CREATE UNIQUE INDEX customer_key_first ON customer_key (organisation_id, key) WHERE repeats = 0;

CREATE TABLE contact (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    customer_id text NOT NULL,
    name text NOT NULL,
    role text,
    email text,
    phone text,
    receives text NOT NULL,
    status text NOT NULL,
    external_ref text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id)
);
CREATE INDEX contact_by_customer ON contact (organisation_id, customer_id, id);
CREATE INDEX contact_by_status ON contact (organisation_id, status, id);
CREATE INDEX contact_by_customer_and_status ON contact (organisation_id, customer_id, status, id);
CREATE UNIQUE INDEX contact_by_external_ref ON contact (organisation_id, external_ref) WHERE external_ref IS NOT NULL;

CREATE TABLE site (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    customer_id text NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    time_zone text,
    access_notes text,
    contact_id text,
    status text NOT NULL,
    external_ref text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, contact_id) REFERENCES contact (organisation_id, id)
);
CREATE INDEX site_by_customer ON site (organisation_id, customer_id, id);
CREATE INDEX site_by_contact ON site (organisation_id, contact_id);
CREATE INDEX site_by_status ON site (organisation_id, status, id);
CREATE INDEX site_by_customer_and_status ON site (organisation_id, customer_id, status, id);
CREATE UNIQUE INDEX site_by_external_ref ON site (organisation_id, external_ref) WHERE external_ref IS NOT NULL;


-- Jobs, notes and files
-- ---------------------

-- The stage and the next action are derived from the rest of the row; they are stored because lists are filtered by
-- them.
CREATE TABLE job (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    number text NOT NULL,
    customer_id text NOT NULL,
    site_id text,
    title text NOT NULL,
    description text,
    status text NOT NULL,
    stage text NOT NULL,
    next_action text,
    priority text NOT NULL,
    billing text NOT NULL,
    customer_order_number text,
    quote_id text,
    budget bigint,
    due_on text,
    lead_person_id text,
    tags text NOT NULL,
    assigned text NOT NULL,
    cancel_reason text,
    external_ref text,
    -- What other areas report: planned visits, running timers, open quotes, whether all of it is invoiced, and what is
    -- owed.
    planned_visits bigint NOT NULL DEFAULT 0,
    next_visit_at text,
    running_timers bigint NOT NULL DEFAULT 0,
    quoting bigint NOT NULL DEFAULT 0,
    invoiced bigint NOT NULL DEFAULT 0,
    owed bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, site_id) REFERENCES site (organisation_id, id),
    FOREIGN KEY (organisation_id, lead_person_id) REFERENCES person (organisation_id, id)
);
CREATE UNIQUE INDEX job_by_number ON job (organisation_id, number);
CREATE UNIQUE INDEX job_by_external_ref ON job (organisation_id, external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX job_by_status ON job (organisation_id, status, id);
CREATE INDEX job_by_stage ON job (organisation_id, stage, id);
CREATE INDEX job_by_priority ON job (organisation_id, priority, id);
CREATE INDEX job_by_customer ON job (organisation_id, customer_id, id);
CREATE INDEX job_by_site ON job (organisation_id, site_id, id);
CREATE INDEX job_by_lead ON job (organisation_id, lead_person_id, id);
CREATE INDEX job_by_due ON job (organisation_id, due_on, id) WHERE due_on IS NOT NULL;
CREATE INDEX job_that_is_live ON job (organisation_id, id) WHERE status NOT IN ('closed', 'cancelled');
CREATE INDEX job_that_is_live_by_due ON job (organisation_id, due_on, id)
    WHERE due_on IS NOT NULL AND status NOT IN ('closed', 'cancelled');
CREATE INDEX job_under_way ON job (organisation_id, customer_id) WHERE status NOT IN ('closed', 'cancelled', 'done');
-- Most jobs that were due are over: late ones are not looked for among them.
CREATE INDEX job_that_is_late ON job (organisation_id, due_on, id)
    WHERE due_on IS NOT NULL AND status NOT IN ('closed', 'cancelled', 'done');

-- Who sees a job without seeing all jobs. From `status` on, the columns are copies of the job's, so that a page of
-- someone's own jobs is read from here alone.
CREATE TABLE own_job (
    organisation_id text NOT NULL,
    person_id text NOT NULL,
    id text NOT NULL,
    -- Why: assigned to it, or planned on it.
    assigned bigint NOT NULL DEFAULT 0,
    planned bigint NOT NULL DEFAULT 0,
    status text NOT NULL,
    stage text NOT NULL,
    priority text NOT NULL,
    customer_id text NOT NULL,
    site_id text,
    lead_person_id text,
    due_on text,
    PRIMARY KEY (organisation_id, person_id, id),
    FOREIGN KEY (organisation_id, id) REFERENCES job (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX own_job_by_job ON own_job (organisation_id, id);
CREATE INDEX own_job_by_status ON own_job (organisation_id, person_id, status, id);
CREATE INDEX own_job_by_stage ON own_job (organisation_id, person_id, stage, id);
CREATE INDEX own_job_by_priority ON own_job (organisation_id, person_id, priority, id);
CREATE INDEX own_job_by_customer ON own_job (organisation_id, person_id, customer_id, id);
CREATE INDEX own_job_by_site ON own_job (organisation_id, person_id, site_id, id);
CREATE INDEX own_job_by_lead ON own_job (organisation_id, person_id, lead_person_id, id);
CREATE INDEX own_job_by_due ON own_job (organisation_id, person_id, due_on, id) WHERE due_on IS NOT NULL;
CREATE INDEX own_job_that_is_live ON own_job (organisation_id, person_id, id)
    WHERE status NOT IN ('closed', 'cancelled');
CREATE INDEX own_job_that_is_live_by_due ON own_job (organisation_id, person_id, due_on, id)
    WHERE due_on IS NOT NULL AND status NOT IN ('closed', 'cancelled');
CREATE INDEX own_job_that_is_late ON own_job (organisation_id, person_id, due_on, id)
    WHERE due_on IS NOT NULL AND status NOT IN ('closed', 'cancelled', 'done');

-- Who sees a customer without seeing all customers: a person who sees one of its jobs. Triggers on own_job add and
-- remove rows. `status` and `name_folded` are copies of the customer's.
CREATE TABLE own_customer (
    organisation_id text NOT NULL,
    person_id text NOT NULL,
    id text NOT NULL,
    status text NOT NULL,
    name_folded text NOT NULL,
    PRIMARY KEY (organisation_id, person_id, id),
    FOREIGN KEY (organisation_id, id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX own_customer_by_customer ON own_customer (organisation_id, id);
CREATE INDEX own_customer_by_status ON own_customer (organisation_id, person_id, status, id);
CREATE INDEX own_customer_by_status_and_name ON own_customer (organisation_id, person_id, status, name_folded, id);

-- What people write about a record of any kind.
CREATE TABLE note (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    record_id text NOT NULL,
    body text NOT NULL,
    visibility text NOT NULL,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX note_by_record ON note (organisation_id, record_id, id);
CREATE INDEX note_by_record_and_visibility ON note (organisation_id, record_id, visibility, id);
CREATE INDEX note_by_visibility ON note (organisation_id, visibility, id);

-- Files that people add to a record of any kind.
CREATE TABLE document (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    record_id text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    media_type text NOT NULL,
    bytes bigint NOT NULL,
    -- The name of the stored file, and of its thumbnail.
    content text NOT NULL,
    thumbnail text,
    visibility text NOT NULL,
    thumbnail_bytes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX document_by_record ON document (organisation_id, record_id, id);
CREATE INDEX document_by_record_and_visibility ON document (organisation_id, record_id, visibility, id);
CREATE INDEX document_by_visibility ON document (organisation_id, visibility, id);
-- Whether a stored file is still needed, by any organisation.
CREATE INDEX document_by_content ON document (content);
CREATE INDEX document_by_thumbnail ON document (thumbnail) WHERE thumbnail IS NOT NULL;


-- Schedule and hours
-- ------------------

-- One person at one job. The visits of a crew share a group, repeated visits a series. A visit has a start and an end,
-- or only a date. Triggers keep a person in one place at a time.
CREATE TABLE visit (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    job_id text,
    person_id text,
    group_id text,
    series_id text,
    kind text NOT NULL,
    title text,
    starts_at text,
    ends_at text,
    on_date text,
    -- What lists are ordered by: the start, or the midnight with which the date begins.
    begins_at text NOT NULL,
    time_zone text NOT NULL,
    status text NOT NULL,
    allow_overlap bigint NOT NULL DEFAULT 0,
    overlap_reason text,
    notes text,
    started_at text,
    finished_at text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id),
    CHECK ((on_date IS NULL) = (starts_at IS NOT NULL)),
    CHECK ((starts_at IS NULL) = (ends_at IS NULL)),
    CHECK (starts_at IS NULL OR ends_at > starts_at)
);
CREATE INDEX visit_by_begin ON visit (organisation_id, begins_at, id);
CREATE INDEX visit_by_person ON visit (organisation_id, person_id, begins_at, id);
CREATE INDEX visit_by_job ON visit (organisation_id, job_id, begins_at, id);
CREATE INDEX visit_by_status ON visit (organisation_id, status, begins_at, id);
CREATE INDEX visit_by_series ON visit (organisation_id, series_id, begins_at, id) WHERE series_id IS NOT NULL;
-- What can clash: time that someone is planned for.
CREATE INDEX visit_that_takes_time ON visit (organisation_id, person_id, starts_at)
    WHERE person_id IS NOT NULL AND starts_at IS NOT NULL AND status <> 'cancelled';
CREATE INDEX visit_without_person ON visit (organisation_id, begins_at, id) WHERE person_id IS NULL;
CREATE INDEX visit_by_group ON visit (organisation_id, group_id, begins_at, id) WHERE group_id IS NOT NULL;

-- Changes to a person's visits that they have not been told of yet. An email some minutes later compares them with
-- what the visits have become, and removes them.
CREATE TABLE untold_visit (
    organisation_id text NOT NULL,
    person_id text NOT NULL,
    visit_id text NOT NULL,
    -- When the visit was before; null if it was not this person's.
    before text,
    changed_by text,
    PRIMARY KEY (organisation_id, person_id, visit_id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id),
    FOREIGN KEY (organisation_id, visit_id) REFERENCES visit (organisation_id, id)
);

-- Leave, from one moment to another; for whole days these are the midnights around them.
CREATE TABLE time_off (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    person_id text NOT NULL,
    kind text NOT NULL,
    starts_at text NOT NULL,
    ends_at text NOT NULL,
    from_date text,
    until_date text,
    status text NOT NULL,
    note text,
    decision_note text,
    -- A day before the start: no visit is longer than a day, so none that starts earlier can reach into the leave.
    reached_from text NOT NULL DEFAULT '',
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id),
    CHECK (ends_at > starts_at)
);
CREATE INDEX time_off_by_start ON time_off (organisation_id, starts_at, id);
CREATE INDEX time_off_by_status ON time_off (organisation_id, status, starts_at, id);
CREATE INDEX time_off_by_person ON time_off (organisation_id, person_id, starts_at, id);
CREATE INDEX time_off_that_is_approved ON time_off (organisation_id, person_id, ends_at) WHERE status = 'approved';
CREATE INDEX time_off_to_come ON time_off (organisation_id, ends_at) WHERE status = 'approved';

-- The secret links to people's calendars.
CREATE TABLE calendar_link (
    organisation_id text NOT NULL REFERENCES organisation (id),
    person_id text NOT NULL,
    hash text NOT NULL,
    made_at text NOT NULL,
    PRIMARY KEY (organisation_id, person_id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE UNIQUE INDEX calendar_link_by_hash ON calendar_link (hash);

-- Hours: with a start and an end, or as minutes on a date. While a timer runs there is no end. What an hour costs and
-- is billed at is stored with it. Triggers keep a person's hours from overlapping.
CREATE TABLE time_entry (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    person_id text NOT NULL,
    job_id text,
    visit_id text,
    on_date text NOT NULL,
    started_at text,
    ended_at text,
    break_minutes bigint NOT NULL,
    minutes bigint,
    billable bigint NOT NULL,
    billable_minutes bigint,
    note text,
    cost_rate bigint,
    bill_rate bigint,
    status text NOT NULL,
    review_note text,
    billed bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    FOREIGN KEY (organisation_id, visit_id) REFERENCES visit (organisation_id, id),
    CHECK (ended_at IS NULL OR ended_at > started_at),
    CHECK ((status = 'running') = (minutes IS NULL))
);
CREATE UNIQUE INDEX time_entry_that_runs ON time_entry (organisation_id, person_id) WHERE status = 'running';
CREATE INDEX time_entry_by_date ON time_entry (organisation_id, on_date, id);
CREATE INDEX time_entry_by_person ON time_entry (organisation_id, person_id, on_date, id);
CREATE INDEX time_entry_by_person_and_id ON time_entry (organisation_id, person_id, id);
CREATE INDEX time_entry_by_job ON time_entry (organisation_id, job_id, on_date, id);
CREATE INDEX time_entry_by_status ON time_entry (organisation_id, status, on_date, id);
CREATE INDEX time_entry_by_visit ON time_entry (organisation_id, visit_id) WHERE visit_id IS NOT NULL;
CREATE INDEX time_entry_that_takes_time ON time_entry (organisation_id, person_id, started_at)
    WHERE started_at IS NOT NULL;
CREATE INDEX time_entry_to_bill ON time_entry (organisation_id, job_id, id)
    WHERE status = 'approved' AND billable = 1 AND billed = 0;
CREATE INDEX time_entry_by_person_and_status ON time_entry (organisation_id, person_id, status, on_date, id);


-- Suppliers and the price list
-- ----------------------------

CREATE TABLE tax_rate (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    components text NOT NULL,
    -- The sum of the components.
    percent bigint NOT NULL,
    category text NOT NULL,
    note text,
    status text NOT NULL,
    -- 1 as soon as a document names the rate; it stays so.
    used bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX tax_rate_by_status ON tax_rate (organisation_id, status, id);

CREATE TABLE supplier (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    email text,
    phone text,
    address text,
    tax_number text,
    account_number text,
    payment_terms_days bigint,
    language text,
    notes text,
    status text NOT NULL,
    external_ref text,
    name_folded text NOT NULL DEFAULT '',
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX supplier_by_status ON supplier (organisation_id, status, id);
CREATE UNIQUE INDEX supplier_by_external_ref ON supplier (organisation_id, external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX supplier_by_name ON supplier (organisation_id, status, name_folded, id);

-- A kit has components: other items, and how many of each. Without a price of its own it costs what they cost.
CREATE TABLE price_item (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    code text,
    name text NOT NULL,
    description text,
    kind text NOT NULL,
    unit text,
    cost_price bigint,
    sell_price bigint,
    tax_rate_id text,
    supplier_id text,
    components text NOT NULL,
    status text NOT NULL,
    external_ref text,
    name_folded text NOT NULL DEFAULT '',
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, tax_rate_id) REFERENCES tax_rate (organisation_id, id),
    FOREIGN KEY (organisation_id, supplier_id) REFERENCES supplier (organisation_id, id)
);
CREATE INDEX price_item_by_status ON price_item (organisation_id, status, id);
CREATE INDEX price_item_by_kind ON price_item (organisation_id, kind, status, id);
CREATE INDEX price_item_by_supplier ON price_item (organisation_id, supplier_id, status, id);
CREATE UNIQUE INDEX price_item_by_code ON price_item (organisation_id, code) WHERE code IS NOT NULL;
CREATE UNIQUE INDEX price_item_by_external_ref ON price_item (organisation_id, external_ref)
    WHERE external_ref IS NOT NULL;
CREATE INDEX price_item_by_name ON price_item (organisation_id, status, name_folded, id);

-- The components of kits again, as rows, for what is computed from them.
CREATE TABLE kit_part (
    organisation_id text NOT NULL,
    kit_id text NOT NULL,
    item_id text NOT NULL,
    quantity bigint NOT NULL,
    PRIMARY KEY (organisation_id, kit_id, item_id),
    FOREIGN KEY (organisation_id, kit_id) REFERENCES price_item (organisation_id, id),
    FOREIGN KEY (organisation_id, item_id) REFERENCES price_item (organisation_id, id)
);
CREATE INDEX kit_part_by_item ON kit_part (organisation_id, item_id, kit_id);


-- Quotes
-- ------

-- The lines of a document are stored with it, as they are shown. The revisions of a quote share its number.
CREATE TABLE quote (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    number text NOT NULL,
    revision bigint NOT NULL,
    -- What people call it: its number; that of an older revision is followed by the revision.
    called text NOT NULL,
    customer_id text NOT NULL,
    site_id text,
    job_id text,
    title text NOT NULL,
    currency text NOT NULL,
    prices_include_tax bigint NOT NULL,
    language text,
    issued_on text,
    valid_until text,
    -- The midnight after the last valid date.
    expires_at text,
    told_expired bigint NOT NULL DEFAULT 0,
    lines text NOT NULL,
    discount text,
    deposit text,
    terms text,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    cost bigint,
    taxes text NOT NULL,
    status text NOT NULL,
    acceptance text,
    decline_reason text,
    withdraw_reason text,
    snapshot text,
    pdf_sha256 text,
    sent_at text,
    viewed_at text,
    decided_at text,
    -- What the discount takes off each line, where that is settled.
    discount_shares text,
    -- The person who sent it, who is told when it is accepted.
    sent_by text,
    -- What the lines with a known cost come to, what the others come to, and how many those are.
    costed_net bigint NOT NULL DEFAULT 0,
    uncosted_net bigint NOT NULL DEFAULT 0,
    uncosted_lines bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, site_id) REFERENCES site (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    CHECK (net + tax = total)
);
CREATE UNIQUE INDEX quote_by_number ON quote (organisation_id, number, revision);
CREATE UNIQUE INDEX quote_by_called ON quote (organisation_id, called);
-- A customer's link names the quote alone.
CREATE UNIQUE INDEX quote_by_id ON quote (id);
CREATE INDEX quote_by_status ON quote (organisation_id, status, id);
CREATE INDEX quote_by_customer ON quote (organisation_id, customer_id, id);
CREATE INDEX quote_by_job ON quote (organisation_id, job_id, id);
CREATE INDEX quote_by_site ON quote (organisation_id, site_id) WHERE site_id IS NOT NULL;
CREATE INDEX quote_by_issued ON quote (organisation_id, issued_on, id);
CREATE INDEX quote_by_expiry ON quote (organisation_id, expires_at, id);
CREATE INDEX quote_to_tell_expired ON quote (organisation_id, expires_at) WHERE status = 'sent' AND told_expired = 0;
-- Whether a stored file is still needed.
CREATE INDEX quote_by_pdf ON quote (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;


-- Purchasing
-- ----------

-- Purchases are shown before tax. `goods` are the lines without prices, for people who only receive them. What was
-- received and billed of each line, and `standing`, follow from the receipts and the bills.
CREATE TABLE purchase_order (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    number text NOT NULL,
    supplier_id text NOT NULL,
    job_id text,
    deliver_to text NOT NULL,
    site_id text,
    needed_on text,
    issued_on text,
    currency text NOT NULL,
    language text,
    lines text NOT NULL,
    goods text NOT NULL,
    receipts text NOT NULL DEFAULT '[]',
    notes text,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    taxes text NOT NULL,
    status text NOT NULL,
    standing text NOT NULL,
    close_reason text,
    snapshot text,
    pdf_sha256 text,
    sent_at text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, supplier_id) REFERENCES supplier (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    FOREIGN KEY (organisation_id, site_id) REFERENCES site (organisation_id, id),
    CHECK (net + tax = total)
);
CREATE UNIQUE INDEX purchase_order_by_number ON purchase_order (organisation_id, number);
CREATE INDEX purchase_order_by_standing ON purchase_order (organisation_id, standing, id);
CREATE INDEX purchase_order_by_supplier ON purchase_order (organisation_id, supplier_id, id);
CREATE INDEX purchase_order_by_job ON purchase_order (organisation_id, job_id, id);
CREATE INDEX purchase_order_by_site ON purchase_order (organisation_id, site_id) WHERE site_id IS NOT NULL;
-- Whether a stored file is still needed.
CREATE INDEX purchase_order_by_pdf ON purchase_order (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;
CREATE INDEX purchase_order_by_need ON purchase_order (organisation_id, needed_on, id, status, job_id)
    WHERE needed_on IS NOT NULL;

-- Two bills of one supplier cannot have the same number, however it is written, unless one of them is void.
CREATE TABLE bill (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    supplier_id text NOT NULL,
    supplier_number text NOT NULL,
    -- The supplier's number as numbers are compared.
    number_folded text NOT NULL,
    purchase_order_id text,
    job_id text,
    on_date text NOT NULL,
    due_on text,
    currency text NOT NULL,
    lines text NOT NULL,
    notes text,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    taxes text NOT NULL,
    status text NOT NULL,
    paid_on text,
    void_reason text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, supplier_id) REFERENCES supplier (organisation_id, id),
    FOREIGN KEY (organisation_id, purchase_order_id) REFERENCES purchase_order (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    CHECK (net + tax = total)
);
CREATE UNIQUE INDEX bill_by_supplier_number ON bill (organisation_id, supplier_id, number_folded)
    WHERE status <> 'void';
CREATE INDEX bill_by_status ON bill (organisation_id, status, id);
CREATE INDEX bill_by_supplier ON bill (organisation_id, supplier_id, id);
CREATE INDEX bill_by_job ON bill (organisation_id, job_id, id);
CREATE INDEX bill_by_order ON bill (organisation_id, purchase_order_id, id);
CREATE INDEX bill_by_date ON bill (organisation_id, on_date, id);
CREATE INDEX bill_by_due ON bill (organisation_id, due_on, id) WHERE due_on IS NOT NULL;

-- What was bought for a job: received on an order and not billed yet, or on a bill. It is what the job cost, and what
-- its customer can be billed for, once.
CREATE TABLE material (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    kind text NOT NULL,
    document_id text NOT NULL,
    line_id text NOT NULL,
    job_id text NOT NULL,
    item_id text,
    on_date text NOT NULL,
    description text NOT NULL,
    quantity bigint NOT NULL,
    unit text,
    -- Cost, price and value are in ten-thousandths, as prices are.
    cost bigint NOT NULL,
    price bigint NOT NULL,
    value bigint NOT NULL,
    billable bigint NOT NULL,
    billed bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id)
);
CREATE INDEX material_by_job ON material (organisation_id, job_id, id);
CREATE INDEX material_by_document ON material (organisation_id, document_id, id);
CREATE INDEX material_to_bill ON material (organisation_id, job_id, id) WHERE billable = 1 AND billed = 0;
CREATE INDEX material_by_date ON material (organisation_id, on_date, job_id, cost);


-- Invoices and payments
-- ---------------------

-- `standing` is the status that is shown, except that time alone makes an invoice overdue.
CREATE TABLE invoice (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    number text,
    kind text NOT NULL,
    customer_id text NOT NULL,
    site_id text,
    job_id text,
    quote_id text,
    title text,
    currency text NOT NULL,
    prices_include_tax bigint NOT NULL,
    language text,
    issued_on text,
    due_on text,
    -- The midnight after the due date.
    overdue_at text,
    told_overdue bigint NOT NULL DEFAULT 0,
    lines text NOT NULL,
    discount text,
    notes text,
    status text NOT NULL,
    standing text NOT NULL,
    -- 1 while something is to be paid.
    owing bigint NOT NULL DEFAULT 0,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    cost bigint,
    taxes text NOT NULL,
    paid bigint NOT NULL DEFAULT 0,
    credited bigint NOT NULL DEFAULT 0,
    due bigint NOT NULL,
    snapshot text,
    e_invoice text,
    peppol text,
    pdf_sha256 text,
    void_pdf_sha256 text,
    ubl_sha256 text,
    void_reason text,
    voided_at text,
    sent_at text,
    viewed_at text,
    reminded_at text,
    reminders bigint NOT NULL DEFAULT 0,
    -- The date on which it was voided, by the clocks of the organisation: the books of that day stay as they are.
    voided_on text,
    -- What the discount takes off each line, where that is settled.
    discount_shares text,
    -- The first and the last day of what it bills, and whether they were typed; otherwise they follow from the hours,
    -- visits and goods that it bills.
    supplied_from text,
    supplied_until text,
    supply_typed bigint NOT NULL DEFAULT 0,
    -- What the lines with a known cost come to, what the others come to, and how many those are; then the cost of
    -- lines that bill no recorded work.
    costed_net bigint NOT NULL DEFAULT 0,
    uncosted_net bigint NOT NULL DEFAULT 0,
    uncosted_lines bigint NOT NULL DEFAULT 0,
    other_cost bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, site_id) REFERENCES site (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    FOREIGN KEY (organisation_id, quote_id) REFERENCES quote (organisation_id, id),
    CHECK (net + tax = total),
    CHECK (due = total - paid - credited),
    CHECK ((number IS NULL) = (status = 'draft'))
);
CREATE UNIQUE INDEX invoice_by_number ON invoice (organisation_id, number) WHERE number IS NOT NULL;
-- A customer's link names the invoice alone.
CREATE UNIQUE INDEX invoice_by_id ON invoice (id);
CREATE INDEX invoice_by_standing ON invoice (organisation_id, standing, id);
CREATE INDEX invoice_by_kind ON invoice (organisation_id, kind, id);
CREATE INDEX invoice_by_customer ON invoice (organisation_id, customer_id, id);
CREATE INDEX invoice_by_job ON invoice (organisation_id, job_id, id);
CREATE INDEX invoice_by_quote ON invoice (organisation_id, quote_id, id);
CREATE INDEX invoice_by_site ON invoice (organisation_id, site_id) WHERE site_id IS NOT NULL;
CREATE INDEX invoice_by_issued ON invoice (organisation_id, issued_on, id);
CREATE INDEX invoice_by_due ON invoice (organisation_id, due_on, id);
CREATE INDEX invoice_that_is_owed ON invoice (organisation_id, id) WHERE owing = 1;
CREATE INDEX invoice_that_is_owed_by_due ON invoice (organisation_id, due_on, id) WHERE owing = 1;
CREATE INDEX invoice_that_is_owed_by_customer ON invoice (organisation_id, customer_id, due_on, id) WHERE owing = 1;
CREATE INDEX invoice_to_tell_overdue ON invoice (organisation_id, overdue_at) WHERE owing = 1 AND told_overdue = 0;
-- Whether a stored file is still needed.
CREATE INDEX invoice_by_pdf ON invoice (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;
CREATE INDEX invoice_by_void_pdf ON invoice (void_pdf_sha256) WHERE void_pdf_sha256 IS NOT NULL;
CREATE INDEX invoice_by_ubl ON invoice (ubl_sha256) WHERE ubl_sha256 IS NOT NULL;
CREATE INDEX invoice_by_voided ON invoice (organisation_id, voided_on, id) WHERE voided_on IS NOT NULL;
-- Sums for reports and the dashboard, read from the index alone.
CREATE INDEX invoice_that_is_owed_sums ON invoice (organisation_id, customer_id, due_on, due) WHERE owing = 1;
CREATE INDEX invoice_that_is_owed_by_age ON invoice (organisation_id, overdue_at, due) WHERE owing = 1;
CREATE INDEX invoice_sums_by_issued ON invoice (organisation_id, issued_on, net, tax) WHERE issued_on IS NOT NULL;
CREATE INDEX invoice_that_is_drafted ON invoice (organisation_id, total) WHERE standing = 'draft';
CREATE INDEX invoice_sums_by_voided ON invoice (organisation_id, voided_on, net) WHERE voided_on IS NOT NULL;

-- What is on an invoice that counts: each hour, each line of an order, a bill or a quote, and each deposit, at most
-- once.
CREATE TABLE billed_source (
    organisation_id text NOT NULL REFERENCES organisation (id),
    source_id text NOT NULL,
    kind text NOT NULL,
    invoice_id text NOT NULL,
    PRIMARY KEY (organisation_id, source_id),
    FOREIGN KEY (organisation_id, invoice_id) REFERENCES invoice (organisation_id, id)
);
CREATE INDEX billed_source_by_invoice ON billed_source (organisation_id, invoice_id, source_id);

CREATE TABLE credit_note (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    number text NOT NULL,
    invoice_id text NOT NULL,
    customer_id text NOT NULL,
    job_id text,
    currency text NOT NULL,
    prices_include_tax bigint NOT NULL,
    language text,
    issued_on text NOT NULL,
    lines text NOT NULL,
    discount text,
    reason text NOT NULL,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    cost bigint,
    taxes text NOT NULL,
    snapshot text NOT NULL,
    e_invoice text,
    peppol text,
    pdf_sha256 text,
    ubl_sha256 text,
    -- What the discount takes off each line, where that is settled.
    discount_shares text,
    -- The first and the last day of what it credits.
    supplied_from text,
    supplied_until text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, invoice_id) REFERENCES invoice (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    CHECK (net + tax = total)
);
CREATE UNIQUE INDEX credit_note_by_number ON credit_note (organisation_id, number);
CREATE INDEX credit_note_by_customer ON credit_note (organisation_id, customer_id, id);
CREATE INDEX credit_note_by_invoice ON credit_note (organisation_id, invoice_id, id);
CREATE INDEX credit_note_by_job ON credit_note (organisation_id, job_id, id);
CREATE INDEX credit_note_by_issued ON credit_note (organisation_id, issued_on, id);
-- Whether a stored file is still needed.
CREATE INDEX credit_note_by_pdf ON credit_note (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;
CREATE INDEX credit_note_by_ubl ON credit_note (ubl_sha256) WHERE ubl_sha256 IS NOT NULL;

CREATE TABLE payment (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    customer_id text NOT NULL,
    on_date text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    method text NOT NULL,
    reference text,
    note text,
    allocations text NOT NULL,
    unallocated bigint NOT NULL,
    status text NOT NULL,
    reverse_reason text,
    reversed_at text,
    external_ref text,
    -- The date on which it was reversed, by the clocks of the organisation.
    reversed_on text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    CHECK (amount > 0 AND unallocated >= 0 AND unallocated <= amount)
);
CREATE INDEX payment_by_date ON payment (organisation_id, on_date, id);
CREATE INDEX payment_by_customer ON payment (organisation_id, customer_id, id);
CREATE INDEX payment_by_status ON payment (organisation_id, status, id);
CREATE INDEX payment_by_method ON payment (organisation_id, method, id);
CREATE INDEX payment_left_over_by_customer ON payment (organisation_id, customer_id, id)
    WHERE unallocated > 0 AND status = 'recorded';
CREATE INDEX payment_by_reversed ON payment (organisation_id, reversed_on, id) WHERE reversed_on IS NOT NULL;
CREATE INDEX payment_left_over ON payment (organisation_id, id, unallocated)
    WHERE unallocated > 0 AND status = 'recorded';
-- A reversed payment can be recorded again under the same reference.
CREATE UNIQUE INDEX payment_by_external_ref ON payment (organisation_id, external_ref)
    WHERE external_ref IS NOT NULL AND status = 'recorded';

-- How much of a payment is for which invoice. Reversing the payment removes its rows.
CREATE TABLE allocation (
    organisation_id text NOT NULL,
    payment_id text NOT NULL,
    invoice_id text NOT NULL,
    amount bigint NOT NULL,
    PRIMARY KEY (organisation_id, payment_id, invoice_id),
    FOREIGN KEY (organisation_id, payment_id) REFERENCES payment (organisation_id, id),
    FOREIGN KEY (organisation_id, invoice_id) REFERENCES invoice (organisation_id, id),
    CHECK (amount > 0)
);
CREATE INDEX allocation_by_invoice ON allocation (organisation_id, invoice_id, payment_id);

-- Statements of account as they were sent to customers, each as it was on its day.
CREATE TABLE account_statement (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    customer_id text NOT NULL,
    from_on text NOT NULL,
    until_on text NOT NULL,
    issued_on text NOT NULL,
    language text NOT NULL,
    currency text NOT NULL,
    brought_forward bigint NOT NULL,
    charged bigint NOT NULL,
    paid bigint NOT NULL,
    balance bigint NOT NULL,
    overdue bigint NOT NULL,
    snapshot text NOT NULL,
    pdf_sha256 text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    CHECK (brought_forward + charged - paid = balance)
);
CREATE INDEX account_statement_by_customer ON account_statement (organisation_id, customer_id, id);
-- Whether a stored file is still needed.
CREATE INDEX account_statement_by_pdf ON account_statement (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;


-- Imports
-- -------

-- A file from which someone imports records, which column is which field, and how far the import is. It is kept for a
-- day or two, for the person who brought it.
CREATE TABLE import_run (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    person_id text NOT NULL,
    made_at text NOT NULL,
    kind text NOT NULL,
    file_name text NOT NULL,
    remarks text NOT NULL,
    headings text NOT NULL,
    mapping text NOT NULL,
    status text NOT NULL,
    result text,
    -- How many rows the file has, and how many are imported. Only the latest attempt may write.
    row_count bigint NOT NULL DEFAULT 0,
    done_rows bigint NOT NULL DEFAULT 0,
    attempt bigint NOT NULL DEFAULT 0,
    -- The decimal signs of columns, by field, where someone chose one.
    signs text NOT NULL DEFAULT '{}',
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX import_run_by_age ON import_run (made_at);

-- The cells of an imported file. They are written once, and apart from the run, because SQLite writes a whole row each
-- time.
CREATE TABLE import_cells (
    organisation_id text NOT NULL REFERENCES organisation (id),
    run_id text NOT NULL,
    cells text NOT NULL,
    PRIMARY KEY (organisation_id, run_id),
    FOREIGN KEY (organisation_id, run_id) REFERENCES import_run (organisation_id, id)
);

-- What each row of a file did, so that the import can be undone.
CREATE TABLE import_change (
    organisation_id text NOT NULL REFERENCES organisation (id),
    run_id text NOT NULL,
    row_number bigint NOT NULL,
    record_id text NOT NULL,
    -- The record's version afterwards and, if the record was there before, the changed fields as they were.
    version bigint NOT NULL,
    previous text,
    PRIMARY KEY (organisation_id, run_id, row_number),
    FOREIGN KEY (organisation_id, run_id) REFERENCES import_run (organisation_id, id)
);
