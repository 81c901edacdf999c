-- What an organisation decides about its invoices, and where it is paid.
ALTER TABLE organisation ADD COLUMN bank text;
ALTER TABLE organisation ADD COLUMN e_invoice_address text;
ALTER TABLE organisation ADD COLUMN payment_terms_days bigint NOT NULL DEFAULT 14;
ALTER TABLE organisation ADD COLUMN invoice_notes text;
UPDATE organisation SET mail_texts = '{"quote":null,"invoice":null,"reminder":null}' WHERE mail_texts = '{"quote":null}';
UPDATE organisation SET mail_texts = substr(mail_texts, 1, length(mail_texts) - 1) || ',"invoice":null,"reminder":null}'
    WHERE mail_texts NOT LIKE '%"invoice":%';

-- Amounts are in the minor unit of its currency. `standing` is all of the shown status but whether it is overdue, which
-- time alone decides: from `overdue_at` on, the midnight after the due date, kept as a moment. `owing` is 1 while
-- something is to be paid.
CREATE TABLE invoice (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    number text,
    kind text NOT NULL,
    customer_id text NOT NULL,
    site_id text,
    job_id text,
    quote_id text,
    title text,
    currency text NOT NULL,
    prices_include_tax bigint NOT NULL,
    language text,
    issued_on text,
    due_on text,
    overdue_at text,
    told_overdue bigint NOT NULL DEFAULT 0,
    lines text NOT NULL,
    discount text,
    notes text,
    status text NOT NULL,
    standing text NOT NULL,
    owing bigint NOT NULL DEFAULT 0,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    cost bigint,
    taxes text NOT NULL,
    paid bigint NOT NULL DEFAULT 0,
    credited bigint NOT NULL DEFAULT 0,
    due bigint NOT NULL,
    snapshot text,
    e_invoice text,
    peppol text,
    pdf_sha256 text,
    void_pdf_sha256 text,
    ubl_sha256 text,
    void_reason text,
    voided_at text,
    sent_at text,
    viewed_at text,
    reminded_at text,
    reminders bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, site_id) REFERENCES site (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    FOREIGN KEY (organisation_id, quote_id) REFERENCES quote (organisation_id, id),
    CHECK (net + tax = total),
    CHECK (due = total - paid - credited),
    CHECK ((number IS NULL) = (status = 'draft'))
);
CREATE UNIQUE INDEX invoice_by_number ON invoice (organisation_id, number) WHERE number IS NOT NULL;
-- A customer's link names the invoice alone.
CREATE UNIQUE INDEX invoice_by_id ON invoice (id);
CREATE INDEX invoice_by_standing ON invoice (organisation_id, standing, id);
CREATE INDEX invoice_by_kind ON invoice (organisation_id, kind, id);
CREATE INDEX invoice_by_customer ON invoice (organisation_id, customer_id, id);
CREATE INDEX invoice_by_job ON invoice (organisation_id, job_id, id);
CREATE INDEX invoice_by_quote ON invoice (organisation_id, quote_id, id);
CREATE INDEX invoice_by_site ON invoice (organisation_id, site_id) WHERE site_id IS NOT NULL;
CREATE INDEX invoice_by_issued ON invoice (organisation_id, issued_on, id);
CREATE INDEX invoice_by_due ON invoice (organisation_id, due_on, id);
CREATE INDEX invoice_that_is_owed ON invoice (organisation_id, id) WHERE owing = 1;
CREATE INDEX invoice_that_is_owed_by_due ON invoice (organisation_id, due_on, id) WHERE owing = 1;
CREATE INDEX invoice_that_is_owed_by_customer ON invoice (organisation_id, customer_id, due_on, id) WHERE owing = 1;
CREATE INDEX invoice_to_tell_overdue ON invoice (organisation_id, overdue_at) WHERE owing = 1 AND told_overdue = 0;
-- Whether a file that is kept is still needed.
CREATE INDEX invoice_by_pdf ON invoice (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;
CREATE INDEX invoice_by_void_pdf ON invoice (void_pdf_sha256) WHERE void_pdf_sha256 IS NOT NULL;
CREATE INDEX invoice_by_ubl ON invoice (ubl_sha256) WHERE ubl_sha256 IS NOT NULL;

-- What is on an invoice that counts: each hour, each line of an order, a bill or a quote, and each deposit, at most once.
CREATE TABLE billed_source (
    organisation_id text NOT NULL REFERENCES organisation (id),
    source_id text NOT NULL,
    kind text NOT NULL,
    invoice_id text NOT NULL,
    PRIMARY KEY (organisation_id, source_id),
    FOREIGN KEY (organisation_id, invoice_id) REFERENCES invoice (organisation_id, id)
);
CREATE INDEX billed_source_by_invoice ON billed_source (organisation_id, invoice_id, source_id);

CREATE TABLE credit_note (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    number text NOT NULL,
    invoice_id text NOT NULL,
    customer_id text NOT NULL,
    job_id text,
    currency text NOT NULL,
    prices_include_tax bigint NOT NULL,
    language text,
    issued_on text NOT NULL,
    lines text NOT NULL,
    discount text,
    reason text NOT NULL,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    cost bigint,
    taxes text NOT NULL,
    snapshot text NOT NULL,
    e_invoice text,
    peppol text,
    pdf_sha256 text,
    ubl_sha256 text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, invoice_id) REFERENCES invoice (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    CHECK (net + tax = total)
);
CREATE UNIQUE INDEX credit_note_by_number ON credit_note (organisation_id, number);
CREATE INDEX credit_note_by_customer ON credit_note (organisation_id, customer_id, id);
CREATE INDEX credit_note_by_invoice ON credit_note (organisation_id, invoice_id, id);
CREATE INDEX credit_note_by_job ON credit_note (organisation_id, job_id, id);
CREATE INDEX credit_note_by_issued ON credit_note (organisation_id, issued_on, id);
CREATE INDEX credit_note_by_pdf ON credit_note (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;
CREATE INDEX credit_note_by_ubl ON credit_note (ubl_sha256) WHERE ubl_sha256 IS NOT NULL;

CREATE TABLE payment (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    customer_id text NOT NULL,
    on_date text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    method text NOT NULL,
    reference text,
    note text,
    allocations text NOT NULL,
    unallocated bigint NOT NULL,
    status text NOT NULL,
    reverse_reason text,
    reversed_at text,
    external_ref text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    CHECK (amount > 0 AND unallocated >= 0 AND unallocated <= amount)
);
CREATE INDEX payment_by_date ON payment (organisation_id, on_date, id);
CREATE INDEX payment_by_customer ON payment (organisation_id, customer_id, id);
CREATE INDEX payment_by_status ON payment (organisation_id, status, id);
CREATE INDEX payment_by_method ON payment (organisation_id, method, id);
CREATE INDEX payment_left_over ON payment (organisation_id, id) WHERE unallocated > 0 AND status = 'recorded';
CREATE INDEX payment_left_over_by_customer ON payment (organisation_id, customer_id, id)
    WHERE unallocated > 0 AND status = 'recorded';
CREATE UNIQUE INDEX payment_by_external_ref ON payment (organisation_id, external_ref) WHERE external_ref IS NOT NULL;

-- What of a payment is for which invoice; gone again when the payment is reversed.
CREATE TABLE allocation (
    organisation_id text NOT NULL,
    payment_id text NOT NULL,
    invoice_id text NOT NULL,
    amount bigint NOT NULL,
    PRIMARY KEY (organisation_id, payment_id, invoice_id),
    FOREIGN KEY (organisation_id, payment_id) REFERENCES payment (organisation_id, id),
    FOREIGN KEY (organisation_id, invoice_id) REFERENCES invoice (organisation_id, id),
    CHECK (amount > 0)
);
CREATE INDEX allocation_by_invoice ON allocation (organisation_id, invoice_id, payment_id);
