-- Those who go together are listed in the order of their visits, as the repetitions of one are.
DROP INDEX visit_by_group;
CREATE INDEX visit_by_group ON visit (organisation_id, group_id, begins_at, id) WHERE group_id IS NOT NULL;
