-- A job that was closed without an invoice for all of it is at the stage `closed`: it was kept as `paid`.
UPDATE job SET stage = 'closed' WHERE status = 'closed' AND stage = 'paid' AND (invoiced = 0 OR owed > 0);
UPDATE own_job SET stage = 'closed' WHERE stage = 'paid' AND EXISTS (
    SELECT 1 FROM job WHERE job.organisation_id = own_job.organisation_id AND job.id = own_job.id
    AND job.stage = 'closed');

-- Goods that went back to the supplier after they were billed are not billed on. The worker reckons it for the
-- organisations that have taken something off a receipt.
INSERT INTO outbox (id, organisation_id, kind, payload, about, due_at)
SELECT 'out_' || substr(organisation.id, 5), organisation.id, 'price_materials_anew', '{}',
    'What materials are billed at', '2026-01-01T00:00:00.000Z'
FROM organisation
WHERE EXISTS (
    SELECT 1 FROM purchase_order WHERE purchase_order.organisation_id = organisation.id
    AND purchase_order.receipts LIKE '%"quantity":"-%')
ON CONFLICT (id) DO NOTHING;
