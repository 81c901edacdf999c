-- Quotes are found and named by their numbers without the zeros that fill them up. Words are made where words are: the
-- worker does it for the quotes that are there already.
INSERT INTO outbox (id, organisation_id, kind, payload, about, due_at)
SELECT 'out_' || substr(customer.id, 10), customer.organisation_id, 'reword_records_of_customer',
    '{"customer":"' || customer.id || '"}', 'What the records of a customer are found by', '2026-01-01T00:00:00.000Z'
FROM customer
WHERE EXISTS (
    SELECT 1 FROM quote WHERE quote.organisation_id = customer.organisation_id AND quote.customer_id = customer.id)
ON CONFLICT (id) DO NOTHING;
