-- A job that was closed without an invoice for all of it is at the stage `closed`: it was kept as `paid`.
UPDATE job SET stage = 'closed' WHERE status = 'closed' AND stage = 'paid' AND (invoiced = 0 OR owed > 0);
UPDATE own_job SET stage = 'closed' WHERE stage = 'paid' AND EXISTS (
    SELECT 1 FROM job WHERE job.organisation_id = own_job.organisation_id AND job.id = own_job.id
    AND job.stage = 'closed');
