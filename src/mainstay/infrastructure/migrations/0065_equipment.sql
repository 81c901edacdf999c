-- Equipment at sites.
CREATE TABLE equipment (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    site_id text NOT NULL,
    name text NOT NULL,
    make text,
    model text,
    serial_number text,
    installed_on text,
    warranty_until text,
    notes text,
    status text NOT NULL,
    external_ref text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, site_id) REFERENCES site (organisation_id, id)
);
CREATE INDEX equipment_by_site ON equipment (organisation_id, site_id, id);
CREATE INDEX equipment_by_status ON equipment (organisation_id, status, id);
CREATE INDEX equipment_by_site_and_status ON equipment (organisation_id, site_id, status, id);
CREATE UNIQUE INDEX equipment_by_external_ref ON equipment (organisation_id, external_ref)
    WHERE external_ref IS NOT NULL;
