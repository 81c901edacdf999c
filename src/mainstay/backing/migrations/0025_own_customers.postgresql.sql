-- By name, customers come in the order in which the embedded database has them, whatever the language of this one is.
ALTER TABLE customer ALTER COLUMN name_folded TYPE text COLLATE "C";

-- Who sees a customer without seeing all of them: whoever sees a job of it. The other columns are copies of the
-- customer's, so that a page of one's own customers starts here, however few of all they are.
CREATE TABLE own_customer (
    organisation_id text NOT NULL,
    person_id text NOT NULL,
    id text NOT NULL,
    status text NOT NULL,
    name_folded text COLLATE "C" NOT NULL,
    PRIMARY KEY (organisation_id, person_id, id),
    FOREIGN KEY (organisation_id, id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX own_customer_by_customer ON own_customer (organisation_id, id);
CREATE INDEX own_customer_by_status ON own_customer (organisation_id, person_id, status, id);
CREATE INDEX own_customer_by_status_and_name ON own_customer (organisation_id, person_id, status, name_folded, id);
ALTER TABLE own_customer ENABLE ROW LEVEL SECURITY;
ALTER TABLE own_customer FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON own_customer USING (current_setting('mainstay.organisation', true) IN (organisation_id, '*'));

INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)
SELECT DISTINCT mine.organisation_id, mine.person_id, customer.id, customer.status, customer.name_folded
FROM own_job AS mine JOIN customer
ON customer.organisation_id = mine.organisation_id AND customer.id = mine.customer_id;

-- They come and go with the jobs that someone sees, whoever writes those.
CREATE FUNCTION own_customer_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO own_customer (organisation_id, person_id, id, status, name_folded)
        SELECT organisation_id, NEW.person_id, id, status, name_folded FROM customer
        WHERE organisation_id = NEW.organisation_id AND id = NEW.customer_id
        ON CONFLICT (organisation_id, person_id, id) DO NOTHING;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM own_customer
        WHERE organisation_id = OLD.organisation_id AND person_id = OLD.person_id AND id = OLD.customer_id
        AND NOT EXISTS (
            SELECT 1 FROM own_job AS other WHERE other.organisation_id = OLD.organisation_id
            AND other.person_id = OLD.person_id AND other.customer_id = OLD.customer_id);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER own_customer_follows AFTER INSERT OR DELETE OR UPDATE OF customer_id ON own_job
FOR EACH ROW EXECUTE FUNCTION own_customer_follows();
