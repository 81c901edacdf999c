ALTER TABLE connection ENABLE ROW LEVEL SECURITY;
ALTER TABLE connection FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON connection USING (current_setting('mainstay.organisation', true) IN (organisation_id, '*'));
