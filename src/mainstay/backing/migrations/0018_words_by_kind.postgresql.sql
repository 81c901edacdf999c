-- Each kind of record has its words to itself, so that looking for one kind does not wade through another.
ALTER TABLE search_word RENAME TO search_word_of_all;
DROP INDEX search_word_by_record;
CREATE TABLE search_word (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    word text COLLATE "C" NOT NULL,
    record_id text NOT NULL,
    PRIMARY KEY (organisation_id, kind, word, record_id)
);
INSERT INTO search_word (organisation_id, kind, word, record_id)
SELECT organisation_id, split_part(record_id, '_', 1), word, record_id FROM search_word_of_all;
DROP TABLE search_word_of_all;
CREATE INDEX search_word_by_record ON search_word (organisation_id, record_id, word);

-- `calendar_link` is left open: it is read before the organisation is known.
DO $$
DECLARE
    fenced text;
BEGIN
    FOREACH fenced IN ARRAY
        ARRAY['search_word', 'number_series', 'customer', 'contact', 'site', 'job', 'own_job', 'note', 'document',
              'visit', 'time_off', 'time_entry'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', fenced);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', fenced);
        EXECUTE format(
            'CREATE POLICY own_rows ON %I USING (current_setting(''mainstay.organisation'', true) IN (organisation_id, ''*''))',
            fenced);
    END LOOP;
END
$$;
