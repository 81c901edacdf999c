-- Those who go together are listed in the order of their visits, as the repetitions of one are.
DROP INDEX visit_by_group;
CREATE INDEX visit_by_group ON visit (organisation_id, group_id, begins_at, id) WHERE group_id IS NOT NULL;
-- Nobody measures as the database grows: what an engine thinks of an index is told to it.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('visit', 'visit_by_group', '20000 10000 3 2 1');
