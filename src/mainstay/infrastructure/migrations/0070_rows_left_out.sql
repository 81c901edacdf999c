-- The faults of the rows that an import leaves out, as [[row, column, problem], ...].
ALTER TABLE import_run ADD COLUMN left_out text NOT NULL DEFAULT '[]';
