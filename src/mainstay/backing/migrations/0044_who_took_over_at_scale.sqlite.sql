-- Few are ever merged, and each into another: SQLite would think of half of them as one's.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('customer', 'customer_that_was_merged', '100 50 2');
ANALYZE sqlite_schema;
