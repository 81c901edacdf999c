-- What only PostgreSQL has, or writes differently from SQLite. Row-level security is generated: see row_security.py.

-- Names
-- -----

-- Names sort as they do in SQLite, whatever the language of this database is.
ALTER TABLE person ALTER COLUMN name_folded TYPE text COLLATE "C";
ALTER TABLE customer ALTER COLUMN name_folded TYPE text COLLATE "C";
ALTER TABLE own_customer ALTER COLUMN name_folded TYPE text COLLATE "C";
ALTER TABLE supplier ALTER COLUMN name_folded TYPE text COLLATE "C";
ALTER TABLE price_item ALTER COLUMN name_folded TYPE text COLLATE "C";

-- Databases that are older than this baseline have this name, and that of the key of search_word.
ALTER TABLE account RENAME CONSTRAINT account_email_folded_key TO account_email_key;


-- The audit trail
-- ---------------

-- Which records an act touched, and the hash of each as the act left it.
CREATE TABLE audit_record (
    organisation_id text NOT NULL REFERENCES organisation (id),
    record_id text NOT NULL,
    sequence bigint NOT NULL,
    hash text,
    PRIMARY KEY (organisation_id, record_id, sequence)
);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only';
END
$$;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();


-- Search
-- ------

-- The words of a record, as JSON.
CREATE TABLE search_record (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    record_id text NOT NULL,
    words text NOT NULL,
    open_words text,
    PRIMARY KEY (organisation_id, kind, record_id)
);

-- The words of the newest records, as JSON, until many of them are written to search_word at once.
CREATE TABLE search_fresh (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    record_id text NOT NULL,
    words text NOT NULL,
    PRIMARY KEY (organisation_id, kind, record_id)
);

CREATE VIEW search_fresh_word WITH (security_invoker = true) AS
SELECT organisation_id, kind, record_id, jsonb_array_elements_text(CAST(words AS jsonb)) AS word FROM search_fresh;

-- The words by which records are found, without case and accents. Each kind of record has its words to itself.
CREATE TABLE search_word (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    word text COLLATE "C" NOT NULL,
    record_id text NOT NULL,
    CONSTRAINT search_word_pkey1 PRIMARY KEY (organisation_id, kind, word, record_id)
);


-- Customers of one's own
-- ----------------------

-- Rows of own_customer come and go with those of own_job, whatever writes these.
CREATE FUNCTION own_customer_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)
        SELECT organisation_id, NEW.person_id, id, status, name_folded FROM customer
        WHERE organisation_id = NEW.organisation_id AND id = NEW.customer_id
        ON CONFLICT (organisation_id, person_id, id) DO NOTHING;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM own_customer
        WHERE organisation_id = OLD.organisation_id AND person_id = OLD.person_id AND id = OLD.customer_id
        AND NOT EXISTS (
            SELECT 1 FROM own_job AS other WHERE other.organisation_id = OLD.organisation_id
            AND other.person_id = OLD.person_id AND other.customer_id = OLD.customer_id);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER own_customer_follows AFTER INSERT OR DELETE OR UPDATE OF customer_id ON own_job
    FOR EACH ROW EXECUTE FUNCTION own_customer_follows();


-- One place at a time
-- -------------------

-- A moment as it is stored, so many hours later.
CREATE FUNCTION hours_from(moment text, hours integer) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char((moment::timestamptz + make_interval(hours => hours)) AT TIME ZONE 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- A person is in one place at a time. Visits that only touch do not clash, a cancelled visit takes no time, and a visit
-- may be allowed to overlap. A visit whose time and person stay as they were is not checked again. No visit is longer
-- than a day, so only those that start within a day before can reach into another.
CREATE FUNCTION visit_takes_time() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.starts_at IS NULL THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF OLD.starts_at IS NOT DISTINCT FROM NEW.starts_at AND OLD.ends_at IS NOT DISTINCT FROM NEW.ends_at
            AND OLD.person_id IS NOT DISTINCT FROM NEW.person_id AND OLD.status <> 'cancelled'
            AND OLD.allow_overlap <= NEW.allow_overlap THEN
            RETURN NEW;
        END IF;
    END IF;
    IF NEW.ends_at > hours_from(NEW.starts_at, 24) THEN
        RAISE EXCEPTION USING ERRCODE = 'exclusion_violation', MESSAGE = 'a visit is longer than a day';
    END IF;
    IF NEW.person_id IS NULL OR NEW.status = 'cancelled' OR NEW.allow_overlap = 1 THEN
        RETURN NEW;
    END IF;
    IF EXISTS (
        SELECT 1 FROM visit WHERE organisation_id = NEW.organisation_id AND person_id = NEW.person_id
        AND starts_at IS NOT NULL AND status <> 'cancelled' AND starts_at < NEW.ends_at
        AND starts_at > hours_from(NEW.starts_at, -24) AND ends_at > NEW.starts_at AND id <> NEW.id) THEN
        RAISE EXCEPTION USING ERRCODE = 'exclusion_violation', MESSAGE = 'the person is elsewhere';
    END IF;
    IF EXISTS (
        SELECT 1 FROM time_off WHERE organisation_id = NEW.organisation_id AND person_id = NEW.person_id
        AND status = 'approved' AND ends_at > NEW.starts_at AND starts_at < NEW.ends_at) THEN
        RAISE EXCEPTION USING ERRCODE = 'exclusion_violation', MESSAGE = 'the person is on leave';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER visit_takes_time BEFORE INSERT OR UPDATE ON visit
    FOR EACH ROW EXECUTE FUNCTION visit_takes_time();

-- A person's hours do not overlap; hours that only touch do not. No entry is longer than 24 hours, so only those that
-- start within a day before can clash. An overlap with a timer that still runs is refused before it gets here.
CREATE FUNCTION keep_hours_apart() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    day_before text := to_char(
        (CAST(NEW.started_at AS timestamptz) - interval '24 hours') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
BEGIN
    IF CAST(NEW.ended_at AS timestamptz) - CAST(NEW.started_at AS timestamptz) > interval '24 hours' OR EXISTS (
        SELECT 1 FROM time_entry other
        WHERE other.organisation_id = NEW.organisation_id AND other.person_id = NEW.person_id
            AND other.started_at IS NOT NULL AND other.started_at < NEW.ended_at AND other.started_at > day_before
            AND other.ended_at > NEW.started_at AND other.id <> NEW.id)
    THEN
        RAISE EXCEPTION 'hours overlap or are longer than 24 hours' USING ERRCODE = 'exclusion_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER time_entry_does_not_overlap BEFORE INSERT ON time_entry
    FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION keep_hours_apart();
CREATE TRIGGER time_entry_does_not_come_to_overlap BEFORE UPDATE OF person_id, started_at, ended_at ON time_entry
    FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION keep_hours_apart();
