-- The audit trail is only ever added to.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only';
END
$$;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- A fence of its own around each organisation's rows: the transaction names its organisation and sees no other.
-- FORCE, because the application's role owns the tables. Left open, since they are read before the organisation is
-- known: account, api_key, outbox.
DO $$
DECLARE
    fenced text;
    key text;
BEGIN
    FOREACH fenced IN ARRAY ARRAY['organisation', 'person', 'event', 'audit', 'replay'] LOOP
        key := CASE fenced WHEN 'organisation' THEN 'id' ELSE 'organisation_id' END;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', fenced);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', fenced);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (current_setting(''mainstay.organisation'', true) IN (%I, ''*''))',
            fenced, key);
    END LOOP;
END
$$;
