-- A person is at one place at a time. Ends touch without clashing; what was cancelled takes no time; what is meant to
-- overlap is let through; and nothing is asked again of a visit whose time and person stay as they were. Because no
-- visit is longer than a day, only those that begin within a day before can reach into another.
CREATE INDEX visit_without_person ON visit (organisation_id, begins_at, id) WHERE person_id IS NULL;

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

-- A moment as it is kept, so many hours later. It is no index's business, so what the session thinks of times is not
-- asked: the text names UTC itself.
CREATE FUNCTION hours_from(moment text, hours integer) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char((moment::timestamptz + make_interval(hours => hours)) AT TIME ZONE 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

CREATE TRIGGER visit_takes_time BEFORE INSERT OR UPDATE ON visit
FOR EACH ROW EXECUTE FUNCTION visit_takes_time();
