-- Who sees a customer without seeing all of them: whoever sees a job of it. The other columns are copies of the
-- customer's, so that a page of one's own customers starts here, however few of all they are.
CREATE TABLE own_customer (
    organisation_id text NOT NULL,
    person_id text NOT NULL,
    id text NOT NULL,
    status text NOT NULL,
    name_folded text NOT NULL,
    PRIMARY KEY (organisation_id, person_id, id),
    FOREIGN KEY (organisation_id, id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX own_customer_by_customer ON own_customer (organisation_id, id);
CREATE INDEX own_customer_by_status ON own_customer (organisation_id, person_id, status, id);
CREATE INDEX own_customer_by_status_and_name ON own_customer (organisation_id, person_id, status, name_folded, id);

INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)
SELECT DISTINCT mine.organisation_id, mine.person_id, customer.id, customer.status, customer.name_folded
FROM own_job AS mine JOIN customer
ON customer.organisation_id = mine.organisation_id AND customer.id = mine.customer_id;

-- They come and go with the jobs that someone sees, whoever writes those.
CREATE TRIGGER own_customer_comes AFTER INSERT ON own_job
BEGIN
    INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)
    SELECT organisation_id, NEW.person_id, id, status, name_folded FROM customer
    WHERE organisation_id = NEW.organisation_id AND id = NEW.customer_id
    ON CONFLICT (organisation_id, person_id, id) DO NOTHING;
END;
CREATE TRIGGER own_customer_goes AFTER DELETE ON own_job
BEGIN
    DELETE FROM own_customer
    WHERE organisation_id = OLD.organisation_id AND person_id = OLD.person_id AND id = OLD.customer_id
    AND NOT EXISTS (
        SELECT 1 FROM own_job AS other WHERE other.organisation_id = OLD.organisation_id
        AND other.person_id = OLD.person_id AND other.customer_id = OLD.customer_id);
END;
CREATE TRIGGER own_customer_changes AFTER UPDATE OF customer_id ON own_job
WHEN OLD.customer_id <> NEW.customer_id
BEGIN
    INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)
    SELECT organisation_id, NEW.person_id, id, status, name_folded FROM customer
    WHERE organisation_id = NEW.organisation_id AND id = NEW.customer_id
    ON CONFLICT (organisation_id, person_id, id) DO NOTHING;
    DELETE FROM own_customer
    WHERE organisation_id = OLD.organisation_id AND person_id = OLD.person_id AND id = OLD.customer_id
    AND NOT EXISTS (
        SELECT 1 FROM own_job AS other WHERE other.organisation_id = OLD.organisation_id
        AND other.person_id = OLD.person_id AND other.customer_id = OLD.customer_id);
END;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('own_customer', 'sqlite_autoindex_own_customer_1', '20000 10000 400 1'),
    ('own_customer', 'own_customer_by_customer', '20000 10000 2'),
    ('own_customer', 'own_customer_by_status', '20000 10000 400 300 1'),
    ('own_customer', 'own_customer_by_status_and_name', '20000 10000 400 300 2 1');
ANALYZE sqlite_schema;
