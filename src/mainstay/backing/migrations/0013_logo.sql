-- The organisation's logo: the name of a file that is kept.
ALTER TABLE organisation ADD COLUMN logo text;
