-- No visit is longer than a day: only those that begin within a day before someone's leave, or later, can reach into it.
ALTER TABLE time_off ADD COLUMN reached_from text NOT NULL DEFAULT '';
UPDATE time_off SET reached_from = strftime('%Y-%m-%dT%H:%M:%fZ', starts_at, '-24 hours');
CREATE INDEX time_off_to_come ON time_off (organisation_id, ends_at) WHERE status = 'approved';
-- Whether there is work for a customer is not looked for among all that is over.
CREATE INDEX job_under_way ON job (organisation_id, customer_id) WHERE status NOT IN ('closed', 'cancelled', 'done');
-- Most jobs that were due are over: what is late is not looked for among them.
CREATE INDEX job_that_is_late ON job (organisation_id, due_on, id)
    WHERE due_on IS NOT NULL AND status NOT IN ('closed', 'cancelled', 'done');
CREATE INDEX own_job_that_is_late ON own_job (organisation_id, person_id, due_on, id)
    WHERE due_on IS NOT NULL AND status NOT IN ('closed', 'cancelled', 'done');

-- What SQLite is to think of these tables: an organisation has very many rows, a person many, a job or a date few.
-- Without it, it looks for someone's own among those of everyone. It is never measured, so plans stay as they are tested.
ANALYZE organisation;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('customer', 'sqlite_autoindex_customer_1', '10000 5000 1'),
    ('customer', 'customer_by_status', '10000 5000 4000 1'),
    ('customer', 'customer_by_name', '10000 5000 2 1'),
    ('customer', 'customer_by_status_and_name', '10000 5000 4000 2 1'),
    ('customer', 'customer_by_external_ref', '10000 5000 1'),
    ('contact', 'sqlite_autoindex_contact_1', '10000 5000 1'),
    ('contact', 'contact_by_customer', '10000 5000 3 1'),
    ('contact', 'contact_by_status', '10000 5000 4000 1'),
    ('contact', 'contact_by_customer_and_status', '10000 5000 3 2 1'),
    ('contact', 'contact_by_external_ref', '10000 5000 1'),
    ('site', 'sqlite_autoindex_site_1', '10000 5000 1'),
    ('site', 'site_by_customer', '10000 5000 3 1'),
    ('site', 'site_by_contact', '10000 5000 3'),
    ('site', 'site_by_status', '10000 5000 4000 1'),
    ('site', 'site_by_customer_and_status', '10000 5000 3 2 1'),
    ('site', 'site_by_external_ref', '10000 5000 1'),
    ('job', 'sqlite_autoindex_job_1', '100000 50000 1'),
    ('job', 'job_by_number', '100000 50000 1'),
    ('job', 'job_by_external_ref', '100000 50000 1'),
    ('job', 'job_by_status', '100000 50000 7000 1'),
    ('job', 'job_by_stage', '100000 50000 5000 1'),
    ('job', 'job_by_priority', '100000 50000 12000 1'),
    ('job', 'job_by_customer', '100000 50000 10 1'),
    ('job', 'job_by_site', '100000 50000 10 1'),
    ('job', 'job_by_lead', '100000 50000 2000 1'),
    ('job', 'job_by_due', '90000 45000 100 1'),
    ('job', 'job_that_is_live', '20000 10000 1'),
    ('job', 'job_that_is_live_by_due', '18000 9000 20 1'),
    ('job', 'job_under_way', '12000 6000 2'),
    ('job', 'job_that_is_late', '10000 5000 10 1'),
    ('own_job', 'sqlite_autoindex_own_job_1', '200000 100000 4000 1'),
    ('own_job', 'own_job_by_job', '200000 100000 2'),
    ('own_job', 'own_job_by_status', '200000 100000 4000 600 1'),
    ('own_job', 'own_job_by_stage', '200000 100000 4000 400 1'),
    ('own_job', 'own_job_by_priority', '200000 100000 4000 1000 1'),
    ('own_job', 'own_job_by_customer', '200000 100000 4000 10 1'),
    ('own_job', 'own_job_by_site', '200000 100000 4000 10 1'),
    ('own_job', 'own_job_by_lead', '200000 100000 4000 1000 1'),
    ('own_job', 'own_job_by_due', '180000 90000 3600 10 1'),
    ('own_job', 'own_job_that_is_live', '40000 20000 800 1'),
    ('own_job', 'own_job_that_is_live_by_due', '36000 18000 720 5 1'),
    ('own_job', 'own_job_that_is_late', '20000 10000 400 5 1'),
    ('time_entry', 'sqlite_autoindex_time_entry_1', '100000 50000 1'),
    ('time_entry', 'time_entry_that_runs', '20 10 1'),
    ('time_entry', 'time_entry_by_date', '100000 50000 200 1'),
    ('time_entry', 'time_entry_by_person', '100000 50000 2000 10 1'),
    ('time_entry', 'time_entry_by_person_and_id', '100000 50000 2000 1'),
    ('time_entry', 'time_entry_by_person_and_status', '100000 50000 2000 500 5 1'),
    ('time_entry', 'time_entry_by_job', '100000 50000 5 2 1'),
    ('time_entry', 'time_entry_by_status', '100000 50000 10000 100 1'),
    ('time_entry', 'time_entry_by_visit', '100000 50000 2'),
    ('time_entry', 'time_entry_that_takes_time', '100000 50000 2000 1'),
    ('time_entry', 'time_entry_to_bill', '40000 20000 5 1'),
    ('visit', 'sqlite_autoindex_visit_1', '100000 50000 1'),
    ('visit', 'visit_by_begin', '100000 50000 20 1'),
    ('visit', 'visit_by_person', '100000 50000 2000 2 1'),
    ('visit', 'visit_by_job', '100000 50000 5 2 1'),
    ('visit', 'visit_by_status', '100000 50000 20000 10 1'),
    ('visit', 'visit_by_series', '20000 10000 20 2 1'),
    ('visit', 'visit_by_group', '20000 10000 3 1'),
    ('visit', 'visit_that_takes_time', '90000 45000 1800 2'),
    ('visit', 'visit_without_person', '2000 1000 2 1'),
    ('time_off', 'sqlite_autoindex_time_off_1', '4000 2000 1'),
    ('time_off', 'time_off_by_start', '4000 2000 2 1'),
    ('time_off', 'time_off_by_status', '4000 2000 500 2 1'),
    ('time_off', 'time_off_by_person', '4000 2000 50 2 1'),
    ('time_off', 'time_off_that_is_approved', '3000 1500 40 2'),
    ('time_off', 'time_off_to_come', '3000 1500 2');
ANALYZE sqlite_schema;
