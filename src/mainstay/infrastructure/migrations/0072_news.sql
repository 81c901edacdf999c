-- What happened last: answers to quotes, and finished visits.
CREATE INDEX quote_by_decision ON quote (organisation_id, decided_at, id) WHERE decided_at IS NOT NULL;
CREATE INDEX visit_by_finish ON visit (organisation_id, finished_at, id) WHERE finished_at IS NOT NULL;
