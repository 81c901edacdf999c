-- What an organisation decides about its quotes, and about what it sends.
ALTER TABLE organisation ADD COLUMN language text NOT NULL DEFAULT 'en';
ALTER TABLE organisation ADD COLUMN quote_valid_days bigint NOT NULL DEFAULT 30;
ALTER TABLE organisation ADD COLUMN quote_terms text;
ALTER TABLE organisation ADD COLUMN mail_texts text NOT NULL DEFAULT '{"quote":null}';

-- The lines of a document are kept with it, as they are shown. Amounts are in the minor unit of its currency.
-- A quote that was sent expires at the midnight after its last valid date, kept as a moment: lists need no calendar.
-- The revisions of a quote share its number; by it people mean the newest, which alone is `called` so.
CREATE TABLE quote (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    number text NOT NULL,
    revision bigint NOT NULL,
    called text NOT NULL,
    customer_id text NOT NULL,
    site_id text,
    job_id text,
    title text NOT NULL,
    currency text NOT NULL,
    prices_include_tax bigint NOT NULL,
    language text,
    issued_on text,
    valid_until text,
    expires_at text,
    told_expired bigint NOT NULL DEFAULT 0,
    lines text NOT NULL,
    discount text,
    deposit text,
    terms text,
    net bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    cost bigint,
    taxes text NOT NULL,
    status text NOT NULL,
    acceptance text,
    decline_reason text,
    withdraw_reason text,
    snapshot text,
    pdf_sha256 text,
    sent_at text,
    viewed_at text,
    decided_at text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, customer_id) REFERENCES customer (organisation_id, id),
    FOREIGN KEY (organisation_id, site_id) REFERENCES site (organisation_id, id),
    FOREIGN KEY (organisation_id, job_id) REFERENCES job (organisation_id, id),
    CHECK (net + tax = total)
);
CREATE UNIQUE INDEX quote_by_number ON quote (organisation_id, number, revision);
CREATE UNIQUE INDEX quote_by_called ON quote (organisation_id, called);
-- A customer's link names the quote alone.
CREATE UNIQUE INDEX quote_by_id ON quote (id);
CREATE INDEX quote_by_status ON quote (organisation_id, status, id);
CREATE INDEX quote_by_customer ON quote (organisation_id, customer_id, id);
CREATE INDEX quote_by_job ON quote (organisation_id, job_id, id);
CREATE INDEX quote_by_site ON quote (organisation_id, site_id) WHERE site_id IS NOT NULL;
CREATE INDEX quote_by_issued ON quote (organisation_id, issued_on, id);
CREATE INDEX quote_by_expiry ON quote (organisation_id, expires_at, id);
CREATE INDEX quote_to_tell_expired ON quote (organisation_id, expires_at) WHERE status = 'sent' AND told_expired = 0;
-- Whether a file that is kept is still needed.
CREATE INDEX quote_by_pdf ON quote (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;
