-- One person's hours do not overlap; ends that touch do not. No entry is longer than 24 hours, so only those that began
-- within a day can clash. Whoever shares a moment with a timer that still runs is refused before it comes here.
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
-- What of someone's hours is to be handed in, or to be approved.
CREATE INDEX time_entry_by_person_and_status ON time_entry (organisation_id, person_id, status, on_date, id);
