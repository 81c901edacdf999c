-- What has an apostrophe in it is also found as one word. A record that has such a thing has mostly a word of one letter, and
-- gets its words anew where words are made, by the worker.
INSERT INTO outbox (id, organisation_id, kind, payload, about, due_at)
SELECT 'out_' || substr(record_id, length(record_id) - 25), organisation_id, 'reword_record',
    '{"record":"' || record_id || '"}', 'What a record is found by', '2026-01-01T00:00:00.000Z'
FROM (SELECT DISTINCT organisation_id, record_id FROM search_word WHERE length(word) = 1 AND lower(word) <> upper(word))
    AS reworded
WHERE 1 = 1
ON CONFLICT (id) DO NOTHING;
