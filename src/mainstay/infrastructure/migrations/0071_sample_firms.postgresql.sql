-- Whether it is a sample firm, for looking around: it emails nobody but those who sign in to it, and can be deleted.
ALTER TABLE organisation ADD COLUMN is_sample bigint NOT NULL DEFAULT 0;
CREATE FUNCTION refuse_sample_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'no organisation becomes a sample firm';
END
$$;
CREATE TRIGGER organisation_stays_a_sample BEFORE UPDATE OF is_sample ON organisation
    FOR EACH ROW WHEN (OLD.is_sample <> NEW.is_sample) EXECUTE FUNCTION refuse_sample_change();
-- The audit trail of a sample firm is deleted together with it, and no other.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT 1 FROM organisation WHERE id = OLD.organisation_id AND is_sample = 1) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit trail is append-only';
END
$$;
