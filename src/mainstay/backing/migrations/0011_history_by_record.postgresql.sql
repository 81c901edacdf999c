CREATE TABLE audit_record (
    organisation_id text NOT NULL REFERENCES organisation (id),
    record_id text NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (organisation_id, record_id, sequence)
);
ALTER TABLE audit_record ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_record FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON audit_record USING (current_setting('mainstay.organisation', true) IN (organisation_id, '*'));
ALTER TABLE person ADD COLUMN name_folded text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX person_by_name ON person (organisation_id, name_folded, id);
