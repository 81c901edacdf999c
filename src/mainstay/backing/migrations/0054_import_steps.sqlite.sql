-- An import is written in steps: a run knows how many rows its file has and how many of them are imported. Whoever
-- begins to work on it, or continues, is a new attempt, and only the latest attempt may write.
ALTER TABLE import_run ADD COLUMN row_count bigint NOT NULL DEFAULT 0;
ALTER TABLE import_run ADD COLUMN done_rows bigint NOT NULL DEFAULT 0;
ALTER TABLE import_run ADD COLUMN attempt bigint NOT NULL DEFAULT 0;
UPDATE import_run SET row_count = json_array_length(cells);

-- The cells of its file are written once. They stand apart from how far it is, which is written with each step: SQLite
-- writes the whole row each time.
CREATE TABLE import_cells (
    organisation_id text NOT NULL REFERENCES organisation (id),
    run_id text NOT NULL,
    cells text NOT NULL,
    PRIMARY KEY (organisation_id, run_id),
    FOREIGN KEY (organisation_id, run_id) REFERENCES import_run (organisation_id, id)
);
INSERT INTO import_cells (organisation_id, run_id, cells) SELECT organisation_id, id, cells FROM import_run;
ALTER TABLE import_run DROP COLUMN cells;

-- What each row did, so that the import can be undone: the record, its version afterwards and, where the record was
-- there before, the changed fields as they were.
CREATE TABLE import_change (
    organisation_id text NOT NULL REFERENCES organisation (id),
    run_id text NOT NULL,
    row_number bigint NOT NULL,
    record_id text NOT NULL,
    version bigint NOT NULL,
    previous text,
    PRIMARY KEY (organisation_id, run_id, row_number),
    FOREIGN KEY (organisation_id, run_id) REFERENCES import_run (organisation_id, id)
);
