-- What SQLite assumes about the tables when it plans a query.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('conversation', 'sqlite_autoindex_conversation_1', '10000 5000 1'),
    ('conversation', 'conversation_by_person', '10000 5000 500 1 1'),
    ('conversation', 'conversation_by_age', '10000 5000 1'),
    ('conversation_turn', 'sqlite_autoindex_conversation_turn_1', '100000 50000 1'),
    ('conversation_turn', 'conversation_turn_by_conversation', '100000 50000 10 1'),
    ('conversation_turn', 'conversation_turn_by_lease', '10 1'),
    ('conversation_step', 'sqlite_autoindex_conversation_step_1', '1000000 500000 10 1'),
    ('assistant_usage', 'sqlite_autoindex_assistant_usage_1', '10000 5000 10 1');
ANALYZE sqlite_schema;
