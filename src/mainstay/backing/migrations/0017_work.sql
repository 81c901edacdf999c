-- What the organisation decides about its work. `grants` lists what its settings grant to some roles, by name.
ALTER TABLE organisation ADD COLUMN working_hours text NOT NULL DEFAULT '{"monday":[{"from":"08:00","until":"17:00"}],"tuesday":[{"from":"08:00","until":"17:00"}],"wednesday":[{"from":"08:00","until":"17:00"}],"thursday":[{"from":"08:00","until":"17:00"}],"friday":[{"from":"08:00","until":"17:00"}],"saturday":[],"sunday":[]}';
ALTER TABLE organisation ADD COLUMN grants text NOT NULL DEFAULT 'membersSeeTeamSchedule subcontractorsLogHours';
ALTER TABLE organisation ADD COLUMN hours_rounding_minutes bigint NOT NULL DEFAULT 0;
ALTER TABLE organisation ADD COLUMN books_closed_until text;
ALTER TABLE person ADD COLUMN working_hours text;

-- Who acted, for the history of what someone did; the chain of the trail is about the stamp.
ALTER TABLE audit ADD COLUMN person_id text;
CREATE INDEX audit_by_person ON audit (organisation_id, person_id, sequence);

-- The numbers people know records by. One organisation's changes are serial, so the next one needs no cleverness.
CREATE TABLE number_series (
    organisation_id text NOT NULL REFERENCES organisation (id),
    kind text NOT NULL,
    prefix text NOT NULL,
    padding bigint NOT NULL,
    next bigint NOT NULL,
    PRIMARY KEY (organisation_id, kind)
);

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

-- The stage and the next action are derived from the rest of the row, and kept because lists are narrowed by them. The
-- last columns are what higher areas hand down: visits that are planned, timers that run, quotes that are open, whether
-- all of it is invoiced, and what is still owed.
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

-- Who sees a job without seeing all of them, and why: assigned to it, or planned on it. The other columns are copies of
-- the job's, so that a page of one's own jobs starts here.
CREATE TABLE own_job (
    organisation_id text NOT NULL,
    person_id text NOT NULL,
    id text NOT NULL,
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

-- What people write beside any record, and the files they put there.
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
    sha256 text NOT NULL,
    thumbnail text,
    visibility text NOT NULL,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX document_by_record ON document (organisation_id, record_id, id);
CREATE INDEX document_by_record_and_visibility ON document (organisation_id, record_id, visibility, id);
CREATE INDEX document_by_visibility ON document (organisation_id, visibility, id);

-- One row of the schedule is one person at one job; a crew's rows share a group, repeated visits a series. A visit has
-- a beginning and an end, or only a date. `begins_at` is what lists are ordered by: the beginning, or that of the date.
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
CREATE INDEX visit_by_group ON visit (organisation_id, group_id, id) WHERE group_id IS NOT NULL;
-- What can clash: the time of someone that is taken.
CREATE INDEX visit_that_takes_time ON visit (organisation_id, person_id, starts_at)
    WHERE person_id IS NOT NULL AND starts_at IS NOT NULL AND status <> 'cancelled';

-- Leave; from a moment to a moment, which for whole days are the midnights around them.
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
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id),
    CHECK (ends_at > starts_at)
);
CREATE INDEX time_off_by_start ON time_off (organisation_id, starts_at, id);
CREATE INDEX time_off_by_status ON time_off (organisation_id, status, starts_at, id);
CREATE INDEX time_off_by_person ON time_off (organisation_id, person_id, starts_at, id);
CREATE INDEX time_off_that_is_approved ON time_off (organisation_id, person_id, ends_at) WHERE status = 'approved';

-- The secret links of people's calendars; only the hash of a secret is kept.
CREATE TABLE calendar_link (
    organisation_id text NOT NULL REFERENCES organisation (id),
    person_id text NOT NULL,
    hash text NOT NULL,
    made_at text NOT NULL,
    PRIMARY KEY (organisation_id, person_id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE UNIQUE INDEX calendar_link_by_hash ON calendar_link (hash);

-- Hours: with a beginning and an end, or as so many minutes of a date. While a timer runs there is no end. What an hour
-- cost and was billed at is kept with it.
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
