-- A person is at one place at a time. Ends touch without clashing; what was cancelled takes no time; what is meant to
-- overlap is let through; and nothing is asked again of a visit whose time and person stay as they were. Because no
-- visit is longer than a day, only those that begin within a day before can reach into another.
CREATE INDEX visit_without_person ON visit (organisation_id, begins_at, id) WHERE person_id IS NULL;

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
