-- The dates on which something was taken back, by the clocks of the organisation: the books of a day stay as they are.
ALTER TABLE invoice ADD COLUMN voided_on text;
ALTER TABLE payment ADD COLUMN reversed_on text;
UPDATE invoice SET voided_on = substr(voided_at, 1, 10) WHERE voided_at IS NOT NULL;
UPDATE payment SET reversed_on = substr(reversed_at, 1, 10) WHERE reversed_at IS NOT NULL;
CREATE INDEX invoice_by_voided ON invoice (organisation_id, voided_on, id) WHERE voided_on IS NOT NULL;
CREATE INDEX payment_by_reversed ON payment (organisation_id, reversed_on, id) WHERE reversed_on IS NOT NULL;
