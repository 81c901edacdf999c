CREATE TABLE audit_record (
    organisation_id text NOT NULL REFERENCES organisation (id),
    record_id text NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (organisation_id, record_id, sequence)
) WITHOUT ROWID;
ALTER TABLE person ADD COLUMN name_folded text NOT NULL DEFAULT '';
CREATE INDEX person_by_name ON person (organisation_id, name_folded, id);
