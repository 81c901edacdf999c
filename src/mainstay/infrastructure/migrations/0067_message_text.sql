-- What an email with a document said, and whether it went to someone as a copy.
ALTER TABLE message ADD COLUMN text text;
ALTER TABLE message ADD COLUMN is_copy bigint NOT NULL DEFAULT 0;
