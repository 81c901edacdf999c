-- No visit is longer than a day: only those that begin within a day before someone's leave, or later, can reach into it.
ALTER TABLE time_off ADD COLUMN reached_from text NOT NULL DEFAULT '';
UPDATE time_off SET reached_from = hours_from(starts_at, -24);
CREATE INDEX time_off_to_come ON time_off (organisation_id, ends_at) WHERE status = 'approved';
-- Whether there is work for a customer is not looked for among all that is over.
CREATE INDEX job_under_way ON job (organisation_id, customer_id) WHERE status NOT IN ('closed', 'cancelled', 'done');
-- Most jobs that were due are over: what is late is not looked for among them.
CREATE INDEX job_that_is_late ON job (organisation_id, due_on, id)
    WHERE due_on IS NOT NULL AND status NOT IN ('closed', 'cancelled', 'done');
CREATE INDEX own_job_that_is_late ON own_job (organisation_id, person_id, due_on, id)
    WHERE due_on IS NOT NULL AND status NOT IN ('closed', 'cancelled', 'done');
