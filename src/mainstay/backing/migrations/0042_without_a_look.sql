-- What is summed up for whoever opens the office, without a look at the documents themselves.
CREATE INDEX invoice_that_is_drafted ON invoice (organisation_id, total) WHERE standing = 'draft';
CREATE INDEX invoice_sums_by_voided ON invoice (organisation_id, voided_on, net) WHERE voided_on IS NOT NULL;
-- Whose orders those are that are needed first, likewise.
DROP INDEX purchase_order_by_need;
CREATE INDEX purchase_order_by_need ON purchase_order (organisation_id, needed_on, id, status, job_id) WHERE needed_on IS NOT NULL;
