-- What is added to the cost of materials that are not on the price list, in percent.
ALTER TABLE organisation ADD COLUMN materials_markup_percent bigint NOT NULL DEFAULT 0;

-- Purchases are told before tax. The lines of a document are kept with it, as they are shown; `goods` are the same
-- without any price, for those who only receive them. What has come is kept in `receipts`; what of each line was
-- received and billed, and the shown status in `standing`, follow from those and from the bills, line by line.
CREATE TABLE purchase_order (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    number text NOT NULL,
    supplier_id text NOT NULL,
    job_id text,
    deliver_to text NOT NULL,
    site_id text,
    needed_on text,
    issued_on text,
    currency text NOT NULL,
    language text,
    lines text NOT NULL,
    goods text NOT NULL,
    receipts text NOT NULL DEFAULT '[]',
    notes text,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    taxes text NOT NULL,
    status text NOT NULL,
    standing text NOT NULL,
    close_reason text,
    snapshot text,
    pdf_sha256 text,
    sent_at text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, supplier_id) REFERENCES supplier (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    FOREIGN KEY (organisation_id, site_id) REFERENCES site (organisation_id, id),
    CHECK (net + tax = total)
);
CREATE UNIQUE INDEX purchase_order_by_number ON purchase_order (organisation_id, number);
CREATE INDEX purchase_order_by_standing ON purchase_order (organisation_id, standing, id);
CREATE INDEX purchase_order_by_supplier ON purchase_order (organisation_id, supplier_id, id);
CREATE INDEX purchase_order_by_job ON purchase_order (organisation_id, job_id, id);
CREATE INDEX purchase_order_by_site ON purchase_order (organisation_id, site_id) WHERE site_id IS NOT NULL;
CREATE INDEX purchase_order_by_need ON purchase_order (organisation_id, needed_on, id) WHERE needed_on IS NOT NULL;
-- Whether a file that is kept is still needed.
CREATE INDEX purchase_order_by_pdf ON purchase_order (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;

-- No two bills of a supplier that count have the same number, however it is written.
CREATE TABLE bill (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    supplier_id text NOT NULL,
    supplier_number text NOT NULL,
    number_folded text NOT NULL,
    purchase_order_id text,
    job_id text,
    on_date text NOT NULL,
    due_on text,
    currency text NOT NULL,
    lines text NOT NULL,
    notes text,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    taxes text NOT NULL,
    status text NOT NULL,
    paid_on text,
    void_reason text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, supplier_id) REFERENCES supplier (organisation_id, id),
    FOREIGN KEY (organisation_id, purchase_order_id) REFERENCES purchase_order (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    CHECK (net + tax = total)
);
CREATE UNIQUE INDEX bill_by_supplier_number ON bill (organisation_id, supplier_id, number_folded) WHERE status <> 'void';
CREATE INDEX bill_by_status ON bill (organisation_id, status, id);
CREATE INDEX bill_by_supplier ON bill (organisation_id, supplier_id, id);
CREATE INDEX bill_by_job ON bill (organisation_id, job_id, id);
CREATE INDEX bill_by_order ON bill (organisation_id, purchase_order_id, id);
CREATE INDEX bill_by_date ON bill (organisation_id, on_date, id);
CREATE INDEX bill_by_due ON bill (organisation_id, due_on, id) WHERE due_on IS NOT NULL;

-- What was bought for a job: of a line of an order what was received and not billed yet, or of a bill. It is what the
-- job cost, and what its customer can be billed for, once; while it is on an invoice it stays as it is. Cost, price and
-- value are in ten-thousandths, as prices are.
CREATE TABLE material (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    kind text NOT NULL,
    document_id text NOT NULL,
    line_id text NOT NULL,
    job_id text NOT NULL,
    item_id text,
    on_date text NOT NULL,
    description text NOT NULL,
    quantity bigint NOT NULL,
    unit text,
    cost bigint NOT NULL,
    price bigint NOT NULL,
    value bigint NOT NULL,
    billable bigint NOT NULL,
    billed bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id)
);
CREATE INDEX material_by_job ON material (organisation_id, job_id, id);
CREATE INDEX material_by_document ON material (organisation_id, document_id, id);
CREATE INDEX material_to_bill ON material (organisation_id, job_id, id) WHERE billable = 1 AND billed = 0;
