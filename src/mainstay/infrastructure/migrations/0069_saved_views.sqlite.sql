-- What SQLite assumes about the table when it plans a query.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('saved_view', 'sqlite_autoindex_saved_view_1', '10000 5000 1'),
    ('saved_view', 'saved_view_by_list', '10000 5000 500 400 1'),
    ('saved_view', 'saved_view_by_person', '10000 5000 20 1');
ANALYZE sqlite_schema;
