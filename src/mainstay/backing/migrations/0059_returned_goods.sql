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
