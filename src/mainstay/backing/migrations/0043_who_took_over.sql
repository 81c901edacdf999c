-- Whoever was merged names the customer that has all now, also where that one was merged later.
UPDATE customer SET merged_into_id = (
    WITH RECURSIVE found (id, next_id) AS (
        SELECT one.id, one.merged_into_id FROM customer AS one
        WHERE one.organisation_id = customer.organisation_id AND one.id = customer.merged_into_id
        UNION ALL
        SELECT one.id, one.merged_into_id FROM found JOIN customer AS one
        ON one.organisation_id = customer.organisation_id AND one.id = found.next_id
    )
    SELECT id FROM found WHERE next_id IS NULL
)
WHERE merged_into_id IS NOT NULL;
CREATE INDEX customer_that_was_merged ON customer (organisation_id, merged_into_id) WHERE merged_into_id IS NOT NULL;
