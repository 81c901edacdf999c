DO $$
DECLARE
    fenced text;
BEGIN
    FOREACH fenced IN ARRAY
        ARRAY['purchase_order', 'bill', 'material'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', fenced);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', fenced);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (current_setting(''mainstay.organisation'', true) IN (organisation_id, ''*''))',
            fenced);
    END LOOP;
END
$$;
