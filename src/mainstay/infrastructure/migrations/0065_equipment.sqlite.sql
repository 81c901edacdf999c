-- What SQLite assumes about the table when it plans a query.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('equipment', 'sqlite_autoindex_equipment_1', '10000 5000 1'),
    ('equipment', 'equipment_by_site', '10000 5000 3 1'),
    ('equipment', 'equipment_by_status', '10000 5000 4000 1'),
    ('equipment', 'equipment_by_site_and_status', '10000 5000 3 2 1'),
    ('equipment', 'equipment_by_external_ref', '10000 5000 1');
ANALYZE sqlite_schema;
