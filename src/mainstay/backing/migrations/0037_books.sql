-- The dates on which something was taken back, by the clocks of the organisation: the books of a day stay as they are.
ALTER TABLE invoice ADD COLUMN voided_on text;
ALTER TABLE payment ADD COLUMN reversed_on text;
UPDATE invoice SET voided_on = substr(voided_at, 1, 10) WHERE voided_at IS NOT NULL;
UPDATE payment SET reversed_on = substr(reversed_at, 1, 10) WHERE reversed_at IS NOT NULL;
CREATE INDEX invoice_by_voided ON invoice (organisation_id, voided_on, id) WHERE voided_on IS NOT NULL;
CREATE INDEX payment_by_reversed ON payment (organisation_id, reversed_on, id) WHERE reversed_on IS NOT NULL;
-- What is summed up, for reports and for whoever opens the office, without a look at the documents themselves.
CREATE INDEX invoice_that_is_owed_sums ON invoice (organisation_id, customer_id, due_on, due) WHERE owing = 1;
CREATE INDEX invoice_that_is_owed_by_age ON invoice (organisation_id, overdue_at, due) WHERE owing = 1;
CREATE INDEX invoice_sums_by_issued ON invoice (organisation_id, issued_on, net, tax) WHERE issued_on IS NOT NULL;
DROP INDEX payment_left_over;
CREATE INDEX payment_left_over ON payment (organisation_id, id, unallocated) WHERE unallocated > 0 AND status = 'recorded';
-- What was bought in a time, by job.
CREATE INDEX material_by_date ON material (organisation_id, on_date, job_id, cost);
