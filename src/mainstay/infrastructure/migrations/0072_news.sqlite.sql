-- What SQLite assumes about the index when it plans a query.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('visit', 'visit_by_finish', '90000 45000 2 1');
ANALYZE sqlite_schema;
