-- Whether it is a sample firm, for looking around: it emails nobody but those who sign in to it, and can be deleted.
ALTER TABLE organisation ADD COLUMN is_sample bigint NOT NULL DEFAULT 0;
CREATE TRIGGER organisation_stays_a_sample BEFORE UPDATE OF is_sample ON organisation
WHEN OLD.is_sample <> NEW.is_sample
BEGIN
    SELECT RAISE(ABORT, 'no organisation becomes a sample firm');
END;
-- The audit trail of a sample firm is deleted together with it, and no other.
DROP TRIGGER audit_is_not_removed;
CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM organisation WHERE id = OLD.organisation_id AND is_sample = 1)
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
