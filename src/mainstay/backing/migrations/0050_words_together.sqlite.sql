-- The words of a record stand together, as JSON: those of the newest records there alone, until many are written to
-- `search_word` at once. Of a record that has words which not everyone is shown, those that everyone is stand apart. What
-- changes the words of all records changes them in each of the three.
CREATE TABLE search_record (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    record_id text NOT NULL,
    words text NOT NULL,
    open_words text,
    PRIMARY KEY (organisation_id, kind, record_id)
) WITHOUT ROWID;
CREATE TABLE search_fresh (
    organisation_id text NOT NULL,
    kind text NOT NULL,
    record_id text NOT NULL,
    words text NOT NULL,
    PRIMARY KEY (organisation_id, kind, record_id)
) WITHOUT ROWID;
CREATE VIEW search_fresh_word AS
SELECT organisation_id, kind, record_id, CAST(value AS text) AS word FROM search_fresh, json_each(words);

INSERT INTO search_record (organisation_id, kind, record_id, words)
SELECT organisation_id, kind, record_id, json_group_array(word) FROM search_word
WHERE kind NOT LIKE '% hidden' GROUP BY organisation_id, kind, record_id;
UPDATE search_record SET open_words = coalesce((
    SELECT json_group_array(word) FROM search_word
    WHERE search_word.organisation_id = search_record.organisation_id AND search_word.kind = search_record.kind
    AND search_word.record_id = search_record.record_id AND NOT EXISTS (
        SELECT 1 FROM search_word AS hidden WHERE hidden.organisation_id = search_word.organisation_id
        AND hidden.kind = search_word.kind || ' hidden' AND hidden.word = search_word.word
        AND hidden.record_id = search_word.record_id
    )
), '[]')
WHERE (organisation_id, record_id) IN (
    SELECT organisation_id, record_id FROM search_word WHERE kind LIKE '% hidden'
);
DROP INDEX search_word_by_record;
