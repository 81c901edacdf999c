-- What was reversed can be recorded again under what a bank calls it: one payment that counts is called so.
DROP INDEX payment_by_external_ref;
CREATE UNIQUE INDEX payment_by_external_ref ON payment (organisation_id, external_ref)
    WHERE external_ref IS NOT NULL AND status = 'recorded';
