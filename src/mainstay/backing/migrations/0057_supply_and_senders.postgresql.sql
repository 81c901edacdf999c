-- The first and the last day of what an invoice bills, and whether they were typed: otherwise they follow from the hours,
-- visits and goods that it bills. Invoices that are issued have those that are printed on them.
ALTER TABLE invoice ADD COLUMN supplied_from text;
ALTER TABLE invoice ADD COLUMN supplied_until text;
ALTER TABLE invoice ADD COLUMN supply_typed bigint NOT NULL DEFAULT 0;
ALTER TABLE credit_note ADD COLUMN supplied_from text;
ALTER TABLE credit_note ADD COLUMN supplied_until text;
UPDATE invoice SET
    supplied_from = CAST(snapshot AS json) -> 'servicePeriod' ->> 'from',
    supplied_until = CAST(snapshot AS json) -> 'servicePeriod' ->> 'until'
    WHERE snapshot IS NOT NULL;

-- The person who sent a quote: they are told when it is accepted.
ALTER TABLE quote ADD COLUMN sent_by text;
