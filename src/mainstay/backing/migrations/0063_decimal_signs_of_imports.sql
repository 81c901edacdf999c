-- Which decimal sign the columns of an imported file have, by field, where someone chose it.
ALTER TABLE import_run ADD COLUMN signs TEXT NOT NULL DEFAULT '{}';
