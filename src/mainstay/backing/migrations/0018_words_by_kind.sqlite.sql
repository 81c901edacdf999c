-- Each kind of record has its words to itself, so that looking for one kind does not wade through another.
ALTER TABLE search_word RENAME TO search_word_of_all;
DROP INDEX search_word_by_record;
CREATE TABLE search_word (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    word text NOT NULL,
    record_id text NOT NULL,
    PRIMARY KEY (organisation_id, kind, word, record_id)
) WITHOUT ROWID;
INSERT INTO search_word (organisation_id, kind, word, record_id)
SELECT organisation_id, substr(record_id, 1, instr(record_id, '_') - 1), word, record_id FROM search_word_of_all;
DROP TABLE search_word_of_all;
CREATE INDEX search_word_by_record ON search_word (organisation_id, record_id, word);
