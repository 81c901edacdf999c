-- The name under which the content of a file is kept.
ALTER TABLE document RENAME COLUMN sha256 TO content;
-- The notes of all records are listed for those who see all of them.
CREATE INDEX note_by_visibility ON note (organisation_id, visibility, id);

-- A file that someone brings records over from: its cells, which column is which field, and what became of it. It is there for a day or two, for the one who brought it.
CREATE TABLE import_run (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    person_id text NOT NULL,
    made_at text NOT NULL,
    kind text NOT NULL,
    file_name text NOT NULL,
    remarks text NOT NULL,
    headings text NOT NULL,
    cells text NOT NULL,
    mapping text NOT NULL,
    status text NOT NULL,
    result text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX import_run_by_age ON import_run (made_at);
