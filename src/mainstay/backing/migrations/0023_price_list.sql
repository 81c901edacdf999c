-- What an organisation decides about its prices.
ALTER TABLE organisation ADD COLUMN prices_include_tax bigint NOT NULL DEFAULT 0;
ALTER TABLE organisation ADD COLUMN default_tax_rate_id text;

-- `percent` is what the components come to; `used` is set for good when a document names the rate.
CREATE TABLE tax_rate (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    components text NOT NULL,
    percent bigint NOT NULL,
    category text NOT NULL,
    note text,
    status text NOT NULL,
    used bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX tax_rate_by_status ON tax_rate (organisation_id, status, id);

CREATE TABLE supplier (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    email text,
    phone text,
    address text,
    tax_number text,
    account_number text,
    payment_terms_days bigint,
    language text,
    notes text,
    status text NOT NULL,
    external_ref text,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX supplier_by_status ON supplier (organisation_id, status, id);
CREATE UNIQUE INDEX supplier_by_external_ref ON supplier (organisation_id, external_ref) WHERE external_ref IS NOT NULL;

-- A kit has components: other items, and how many of each. Without a price of its own it costs what they do.
CREATE TABLE price_item (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    code text,
    name text NOT NULL,
    description text,
    kind text NOT NULL,
    unit text,
    cost_price bigint,
    sell_price bigint,
    tax_rate_id text,
    supplier_id text,
    components text NOT NULL,
    status text NOT NULL,
    external_ref text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, tax_rate_id) REFERENCES tax_rate (organisation_id, id),
    FOREIGN KEY (organisation_id, supplier_id) REFERENCES supplier (organisation_id, id)
);
CREATE INDEX price_item_by_status ON price_item (organisation_id, status, id);
CREATE INDEX price_item_by_kind ON price_item (organisation_id, kind, status, id);
CREATE INDEX price_item_by_supplier ON price_item (organisation_id, supplier_id, status, id);
CREATE UNIQUE INDEX price_item_by_code ON price_item (organisation_id, code) WHERE code IS NOT NULL;
CREATE UNIQUE INDEX price_item_by_external_ref ON price_item (organisation_id, external_ref)
    WHERE external_ref IS NOT NULL;
-- The same components, for what is worked out of them.
CREATE TABLE kit_part (
    organisation_id text NOT NULL,
    kit_id text NOT NULL,
    item_id text NOT NULL,
    quantity bigint NOT NULL,
    PRIMARY KEY (organisation_id, kit_id, item_id),
    FOREIGN KEY (organisation_id, kit_id) REFERENCES price_item (organisation_id, id),
    FOREIGN KEY (organisation_id, item_id) REFERENCES price_item (organisation_id, id)
);
CREATE INDEX kit_part_by_item ON kit_part (organisation_id, item_id, kit_id);
