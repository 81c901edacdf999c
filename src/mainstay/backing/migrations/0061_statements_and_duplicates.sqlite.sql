-- All that agents and programs did: whatever came through a key or a connected app, in the order in which it is listed.
CREATE INDEX audit_by_agents ON audit (organisation_id, at, sequence) WHERE client_id IS NOT NULL;

-- Statements of account as they were sent to customers, each as it was on its day.
CREATE TABLE account_statement (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    customer_id text NOT NULL,
    from_on text NOT NULL,
    until_on text NOT NULL,
    issued_on text NOT NULL,
    language text NOT NULL,
    currency text NOT NULL,
    brought_forward bigint NOT NULL,
    charged bigint NOT NULL,
    paid bigint NOT NULL,
    balance bigint NOT NULL,
    overdue bigint NOT NULL,
    snapshot text NOT NULL,
    pdf_sha256 text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    CHECK (brought_forward + charged - paid = balance)
);
CREATE INDEX account_statement_by_customer ON account_statement (organisation_id, customer_id, id);
-- Whether a file that is kept is still needed.
CREATE INDEX account_statement_by_pdf ON account_statement (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;

-- What tells that two customers may be one: the same email address, phone number, name, tax number or postal address, as
-- they are compared. Of the customers with the same key all but one are marked as repeating it: so those that may be there
-- twice are found without a look at the others.
CREATE TABLE customer_key (
    organisation_id text NOT NULL REFERENCES organisation (id),
    key text NOT NULL,
    customer_id text NOT NULL,
    repeats bigint NOT NULL,
    PRIMARY KEY (organisation_id, key, customer_id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id)
);
CREATE INDEX customer_key_by_customer ON customer_key (organisation_id, customer_id);
CREATE INDEX customer_key_repeated ON customer_key (organisation_id, customer_id) WHERE repeats = 1;
