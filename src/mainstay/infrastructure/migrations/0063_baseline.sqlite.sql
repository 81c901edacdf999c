-- What only SQLite has, or writes differently from PostgreSQL.

-- The audit trail
-- ---------------

-- Which records an act touched, and the hash of each as the act left it.
CREATE TABLE audit_record (
    organisation_id text NOT NULL REFERENCES organisation (id),
    record_id text NOT NULL,
    sequence bigint NOT NULL,
    hash text,
    PRIMARY KEY (organisation_id, record_id, sequence)
) WITHOUT ROWID;

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;


-- Search
-- ------

-- The words of a record, as JSON.
CREATE TABLE search_record (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    record_id text NOT NULL,
    words text NOT NULL,
    -- Without the words that not everyone is shown, if it has such words.
    open_words text,
    PRIMARY KEY (organisation_id, kind, record_id)
) WITHOUT ROWID;

-- The words of the newest records, as JSON, until many of them are written to search_word at once.
CREATE TABLE search_fresh (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    record_id text NOT NULL,
    words text NOT NULL,
    PRIMARY KEY (organisation_id, kind, record_id)
) WITHOUT ROWID;

CREATE VIEW search_fresh_word AS
SELECT organisation_id, kind, record_id, CAST(value AS text) AS word FROM search_fresh, json_each(words);

-- The words by which records are found, without case and accents. Each kind of record has its words to itself.
CREATE TABLE search_word (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    word text NOT NULL,
    record_id text NOT NULL,
    PRIMARY KEY (organisation_id, kind, word, record_id)
) WITHOUT ROWID;


-- Customers of one's own
-- ----------------------

-- Rows of own_customer come and go with those of own_job, whatever writes these.
CREATE TRIGGER own_customer_comes AFTER INSERT ON own_job
BEGIN
    INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)
    SELECT organisation_id, NEW.person_id, id, status, name_folded FROM customer
    WHERE organisation_id = NEW.organisation_id AND id = NEW.customer_id
    ON CONFLICT (organisation_id, person_id, id) DO NOTHING;
END;
CREATE TRIGGER own_customer_goes AFTER DELETE ON own_job
BEGIN
    DELETE FROM own_customer
    WHERE organisation_id = OLD.organisation_id AND person_id = OLD.person_id AND id = OLD.customer_id
    AND NOT EXISTS (
        SELECT 1 FROM own_job AS other WHERE other.organisation_id = OLD.organisation_id
        AND other.person_id = OLD.person_id AND other.customer_id = OLD.customer_id);
END;
CREATE TRIGGER own_customer_changes AFTER UPDATE OF customer_id ON own_job
WHEN OLD.customer_id <> NEW.customer_id
BEGIN
    INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)
    SELECT organisation_id, NEW.person_id, id, status, name_folded FROM customer
    WHERE organisation_id = NEW.organisation_id AND id = NEW.customer_id
    ON CONFLICT (organisation_id, person_id, id) DO NOTHING;
    DELETE FROM own_customer
    WHERE organisation_id = OLD.organisation_id AND person_id = OLD.person_id AND id = OLD.customer_id
    AND NOT EXISTS (
        SELECT 1 FROM own_job AS other WHERE other.organisation_id = OLD.organisation_id
        AND other.person_id = OLD.person_id AND other.customer_id = OLD.customer_id);
END;


-- One place at a time
-- -------------------

-- A person is in one place at a time. Visits that only touch do not clash, a cancelled visit takes no time, and a visit
-- may be allowed to overlap. A visit whose time and person stay as they were is not checked again. No visit is longer
-- than a day, so only those that start within a day before can reach into another.
CREATE TRIGGER visit_takes_time BEFORE INSERT ON visit
WHEN NEW.starts_at IS NOT NULL BEGIN
    SELECT RAISE(ABORT, 'taken: a visit is longer than a day')
    WHERE NEW.ends_at > strftime('%Y-%m-%dT%H:%M:%fZ', NEW.starts_at, '+24 hours');
    SELECT RAISE(ABORT, 'taken: the person is elsewhere')
    WHERE NEW.person_id IS NOT NULL AND NEW.status <> 'cancelled' AND NEW.allow_overlap = 0 AND EXISTS (
        SELECT 1 FROM visit WHERE organisation_id = NEW.organisation_id AND person_id = NEW.person_id
        AND starts_at IS NOT NULL AND status <> 'cancelled' AND starts_at < NEW.ends_at
        AND starts_at > strftime('%Y-%m-%dT%H:%M:%fZ', NEW.starts_at, '-24 hours')
        AND ends_at > NEW.starts_at AND id <> NEW.id);
    SELECT RAISE(ABORT, 'taken: the person is on leave')
    WHERE NEW.person_id IS NOT NULL AND NEW.status <> 'cancelled' AND NEW.allow_overlap = 0 AND EXISTS (
        SELECT 1 FROM time_off WHERE organisation_id = NEW.organisation_id AND person_id = NEW.person_id
        AND status = 'approved' AND ends_at > NEW.starts_at AND starts_at < NEW.ends_at);
END;
CREATE TRIGGER visit_takes_other_time BEFORE UPDATE ON visit
WHEN NEW.starts_at IS NOT NULL AND (
    OLD.starts_at IS NOT NEW.starts_at OR OLD.ends_at IS NOT NEW.ends_at OR OLD.person_id IS NOT NEW.person_id
    OR OLD.status = 'cancelled' OR OLD.allow_overlap > NEW.allow_overlap) BEGIN
    SELECT RAISE(ABORT, 'taken: a visit is longer than a day')
    WHERE NEW.ends_at > strftime('%Y-%m-%dT%H:%M:%fZ', NEW.starts_at, '+24 hours');
    SELECT RAISE(ABORT, 'taken: the person is elsewhere')
    WHERE NEW.person_id IS NOT NULL AND NEW.status <> 'cancelled' AND NEW.allow_overlap = 0 AND EXISTS (
        SELECT 1 FROM visit WHERE organisation_id = NEW.organisation_id AND person_id = NEW.person_id
        AND starts_at IS NOT NULL AND status <> 'cancelled' AND starts_at < NEW.ends_at
        AND starts_at > strftime('%Y-%m-%dT%H:%M:%fZ', NEW.starts_at, '-24 hours')
        AND ends_at > NEW.starts_at AND id <> NEW.id);
    SELECT RAISE(ABORT, 'taken: the person is on leave')
    WHERE NEW.person_id IS NOT NULL AND NEW.status <> 'cancelled' AND NEW.allow_overlap = 0 AND EXISTS (
        SELECT 1 FROM time_off WHERE organisation_id = NEW.organisation_id AND person_id = NEW.person_id
        AND status = 'approved' AND ends_at > NEW.starts_at AND starts_at < NEW.ends_at);
END;

-- A person's hours do not overlap; hours that only touch do not. No entry is longer than 24 hours, so only those that
-- start within a day before can clash. An overlap with a timer that still runs is refused before it gets here.
CREATE TRIGGER time_entry_does_not_overlap BEFORE INSERT ON time_entry WHEN NEW.ended_at IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'taken: hours overlap or are longer than 24 hours')
    WHERE NEW.ended_at > strftime('%Y-%m-%dT%H:%M:%fZ', NEW.started_at, '+24 hours') OR EXISTS (
        SELECT 1 FROM time_entry other
        WHERE other.organisation_id = NEW.organisation_id AND other.person_id = NEW.person_id
            AND other.started_at IS NOT NULL AND other.started_at < NEW.ended_at
            AND other.started_at > strftime('%Y-%m-%dT%H:%M:%fZ', NEW.started_at, '-24 hours')
            AND other.ended_at > NEW.started_at AND other.id <> NEW.id);
END;
CREATE TRIGGER time_entry_does_not_come_to_overlap BEFORE UPDATE OF person_id, started_at, ended_at ON time_entry
WHEN NEW.ended_at IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'taken: hours overlap or are longer than 24 hours')
    WHERE NEW.ended_at > strftime('%Y-%m-%dT%H:%M:%fZ', NEW.started_at, '+24 hours') OR EXISTS (
        SELECT 1 FROM time_entry other
        WHERE other.organisation_id = NEW.organisation_id AND other.person_id = NEW.person_id
            AND other.started_at IS NOT NULL AND other.started_at < NEW.ended_at
            AND other.started_at > strftime('%Y-%m-%dT%H:%M:%fZ', NEW.started_at, '-24 hours')
            AND other.ended_at > NEW.started_at AND other.id <> NEW.id);
END;


-- Statistics
-- ----------

-- What SQLite assumes about these tables when it plans a query: an organisation has very many rows, a person many, a
-- job or a date few. Without this it would look for one person's rows among everyone's. It is never measured, so plans
-- stay as they are tested.
ANALYZE organisation;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('customer', 'sqlite_autoindex_customer_1', '10000 5000 1'),
    ('customer', 'customer_by_status', '10000 5000 4000 1'),
    ('customer', 'customer_by_name', '10000 5000 2 1'),
    ('customer', 'customer_by_status_and_name', '10000 5000 4000 2 1'),
    ('customer', 'customer_by_external_ref', '10000 5000 1'),
    ('customer', 'customer_that_was_merged', '100 50 2'),
    ('contact', 'sqlite_autoindex_contact_1', '10000 5000 1'),
    ('contact', 'contact_by_customer', '10000 5000 3 1'),
    ('contact', 'contact_by_status', '10000 5000 4000 1'),
    ('contact', 'contact_by_customer_and_status', '10000 5000 3 2 1'),
    ('contact', 'contact_by_external_ref', '10000 5000 1'),
    ('site', 'sqlite_autoindex_site_1', '10000 5000 1'),
    ('site', 'site_by_customer', '10000 5000 3 1'),
    ('site', 'site_by_contact', '10000 5000 3'),
    ('site', 'site_by_status', '10000 5000 4000 1'),
    ('site', 'site_by_customer_and_status', '10000 5000 3 2 1'),
    ('site', 'site_by_external_ref', '10000 5000 1'),
    ('job', 'sqlite_autoindex_job_1', '100000 50000 1'),
    ('job', 'job_by_number', '100000 50000 1'),
    ('job', 'job_by_external_ref', '100000 50000 1'),
    ('job', 'job_by_status', '100000 50000 7000 1'),
    ('job', 'job_by_stage', '100000 50000 5000 1'),
    ('job', 'job_by_priority', '100000 50000 12000 1'),
    ('job', 'job_by_customer', '100000 50000 10 1'),
    ('job', 'job_by_site', '100000 50000 10 1'),
    ('job', 'job_by_lead', '100000 50000 2000 1'),
    ('job', 'job_by_due', '90000 45000 100 1'),
    ('job', 'job_that_is_live', '20000 10000 1'),
    ('job', 'job_that_is_live_by_due', '18000 9000 20 1'),
    ('job', 'job_under_way', '12000 6000 2'),
    ('job', 'job_that_is_late', '10000 5000 10 1'),
    ('own_job', 'sqlite_autoindex_own_job_1', '200000 100000 4000 1'),
    ('own_job', 'own_job_by_job', '200000 100000 2'),
    ('own_job', 'own_job_by_status', '200000 100000 4000 600 1'),
    ('own_job', 'own_job_by_stage', '200000 100000 4000 400 1'),
    ('own_job', 'own_job_by_priority', '200000 100000 4000 1000 1'),
    ('own_job', 'own_job_by_customer', '200000 100000 4000 10 1'),
    ('own_job', 'own_job_by_site', '200000 100000 4000 10 1'),
    ('own_job', 'own_job_by_lead', '200000 100000 4000 1000 1'),
    ('own_job', 'own_job_by_due', '180000 90000 3600 10 1'),
    ('own_job', 'own_job_that_is_live', '40000 20000 800 1'),
    ('own_job', 'own_job_that_is_live_by_due', '36000 18000 720 5 1'),
    ('own_job', 'own_job_that_is_late', '20000 10000 400 5 1'),
    ('time_entry', 'sqlite_autoindex_time_entry_1', '100000 50000 1'),
    ('time_entry', 'time_entry_that_runs', '20 10 1'),
    ('time_entry', 'time_entry_by_date', '100000 50000 200 1'),
    ('time_entry', 'time_entry_by_person', '100000 50000 2000 10 1'),
    ('time_entry', 'time_entry_by_person_and_id', '100000 50000 2000 1'),
    ('time_entry', 'time_entry_by_person_and_status', '100000 50000 2000 500 5 1'),
    ('time_entry', 'time_entry_by_job', '100000 50000 5 2 1'),
    ('time_entry', 'time_entry_by_status', '100000 50000 10000 100 1'),
    ('time_entry', 'time_entry_by_visit', '100000 50000 2'),
    ('time_entry', 'time_entry_that_takes_time', '100000 50000 2000 1'),
    ('time_entry', 'time_entry_to_bill', '40000 20000 5 1'),
    ('visit', 'sqlite_autoindex_visit_1', '100000 50000 1'),
    ('visit', 'visit_by_begin', '100000 50000 20 1'),
    ('visit', 'visit_by_person', '100000 50000 2000 2 1'),
    ('visit', 'visit_by_job', '100000 50000 5 2 1'),
    ('visit', 'visit_by_status', '100000 50000 20000 10 1'),
    ('visit', 'visit_by_series', '20000 10000 20 2 1'),
    ('visit', 'visit_that_takes_time', '90000 45000 1800 2'),
    ('visit', 'visit_without_person', '2000 1000 2 1'),
    ('visit', 'visit_by_group', '20000 10000 3 2 1'),
    ('time_off', 'sqlite_autoindex_time_off_1', '4000 2000 1'),
    ('time_off', 'time_off_by_start', '4000 2000 2 1'),
    ('time_off', 'time_off_by_status', '4000 2000 500 2 1'),
    ('time_off', 'time_off_by_person', '4000 2000 50 2 1'),
    ('time_off', 'time_off_that_is_approved', '3000 1500 40 2'),
    ('time_off', 'time_off_to_come', '3000 1500 2'),
    ('own_customer', 'sqlite_autoindex_own_customer_1', '20000 10000 400 1'),
    ('own_customer', 'own_customer_by_customer', '20000 10000 2'),
    ('own_customer', 'own_customer_by_status', '20000 10000 400 300 1'),
    ('own_customer', 'own_customer_by_status_and_name', '20000 10000 400 300 2 1');
ANALYZE sqlite_schema;
