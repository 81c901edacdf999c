-- What somebody changed of a person's visits and they were not told yet: when each was before, nothing where it was not
-- theirs. The mail that is sent some minutes later tells how it differs from what it has become, and empties this.
CREATE TABLE untold_visit (
    organisation_id text NOT NULL,
    person_id text NOT NULL,
    visit_id text NOT NULL,
    before text,
    changed_by text,
    PRIMARY KEY (organisation_id, person_id, visit_id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id),
    FOREIGN KEY (organisation_id, visit_id) REFERENCES visit (organisation_id, id)
);

-- Whether a file that is kept is still needed, by any organisation.
CREATE INDEX document_by_content ON document (content);
CREATE INDEX document_by_thumbnail ON document (thumbnail) WHERE thumbnail IS NOT NULL;
CREATE INDEX organisation_by_logo ON organisation (logo) WHERE logo IS NOT NULL;
