-- Letters that are no other letter with an accent are looked for, and put in order, as those type them who do not have
-- them on their keys. What is kept with such a letter follows; nothing else is touched.
CREATE TABLE refolded AS
SELECT organisation_id, record_id, kind, said, plain FROM (
    SELECT organisation_id, record_id, kind, said,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(said,
        'ø', 'o'), 'ł', 'l'), 'đ', 'd'), 'ð', 'd'), 'ħ', 'h'), 'ŧ', 't'), 'ŋ', 'n'), 'ı', 'i'), 'ə', 'e'),
        'æ', 'ae'), 'œ', 'oe'), 'þ', 'th') AS plain
    FROM (
        SELECT organisation_id, id AS record_id, 'name' AS kind, name_folded AS said FROM person
        UNION ALL SELECT organisation_id, id, 'name', name_folded FROM customer
        UNION ALL SELECT organisation_id, id, 'name', name_folded FROM supplier
        UNION ALL SELECT organisation_id, id, 'name', name_folded FROM price_item
        UNION ALL SELECT organisation_id, record_id, kind, word FROM search_word
    ) AS kept
    WHERE octet_length(said) <> length(said)
) AS folded
WHERE plain <> said;

UPDATE person SET name_folded = refolded.plain FROM refolded
WHERE refolded.organisation_id = person.organisation_id AND refolded.record_id = person.id AND refolded.kind = 'name';
UPDATE customer SET name_folded = refolded.plain FROM refolded
WHERE refolded.organisation_id = customer.organisation_id AND refolded.record_id = customer.id AND refolded.kind = 'name';
UPDATE own_customer SET name_folded = refolded.plain FROM refolded
WHERE refolded.organisation_id = own_customer.organisation_id AND refolded.record_id = own_customer.id
    AND refolded.kind = 'name';
UPDATE supplier SET name_folded = refolded.plain FROM refolded
WHERE refolded.organisation_id = supplier.organisation_id AND refolded.record_id = supplier.id AND refolded.kind = 'name';
UPDATE price_item SET name_folded = refolded.plain FROM refolded
WHERE refolded.organisation_id = price_item.organisation_id AND refolded.record_id = price_item.id
    AND refolded.kind = 'name';

-- Some records need more than this, and get it where words are made, by the worker: those that say more than is kept, of
-- which other words may come first now, and those that have the same word hidden and openly now.
INSERT INTO outbox (id, organisation_id, kind, payload, about, due_at)
SELECT 'out_' || substr(record_id, length(record_id) - 25), organisation_id, 'reword_record',
    '{"record":"' || record_id || '"}', 'What a record is found by', '2026-01-01T00:00:00.000Z'
FROM (
    SELECT organisation_id, record_id FROM search_word GROUP BY organisation_id, record_id HAVING count(*) >= 200
    UNION
    SELECT organisation_id, record_id FROM refolded WHERE EXISTS (
        SELECT 1 FROM search_word AS met WHERE met.organisation_id = refolded.organisation_id
        AND met.kind = refolded.kind AND met.word = substr(refolded.plain, 1, 40) AND met.record_id = refolded.record_id)
    AND EXISTS (
        SELECT 1 FROM search_word AS hidden WHERE hidden.organisation_id = refolded.organisation_id
        AND hidden.record_id = refolded.record_id AND hidden.kind = refolded.kind || ' hidden')
) AS reworded
WHERE 1 = 1
ON CONFLICT (id) DO NOTHING;

-- Of a record's words, two may be one now; and a word is no longer than forty letters.
INSERT INTO search_word (organisation_id, kind, word, record_id)
SELECT organisation_id, kind, substr(plain, 1, 40), record_id FROM refolded WHERE kind <> 'name'
ON CONFLICT DO NOTHING;
DELETE FROM search_word WHERE (organisation_id, kind, word, record_id) IN (
    SELECT organisation_id, kind, said, record_id FROM refolded);
DROP TABLE refolded;
