-- The feed since a moment.
CREATE INDEX event_by_moment ON event (organisation_id, created_at, sequence);

-- The words that records are found by, without case and accents; the index is for writing a record's words anew.
CREATE TABLE search_word (
    organisation_id text NOT NULL,
    word text COLLATE "C" NOT NULL,
    record_id text NOT NULL,
    PRIMARY KEY (organisation_id, word, record_id)
);
CREATE INDEX search_word_by_record ON search_word (organisation_id, record_id, word);
ALTER TABLE search_word ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_word FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON search_word USING (current_setting('mainstay.organisation', true) IN (organisation_id, '*'));
