-- How many bytes an organisation stores: its files with their small pictures, and its logo. The sizes of small pictures and
-- logos were not written down before; those count nothing.
ALTER TABLE document ADD COLUMN thumbnail_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE organisation ADD COLUMN logo_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE organisation ADD COLUMN storage_bytes bigint NOT NULL DEFAULT 0;
UPDATE organisation SET storage_bytes = (
    SELECT coalesce(sum(document.bytes), 0) FROM document WHERE document.organisation_id = organisation.id
);
