-- Filters of lists that people saved under a name.
CREATE TABLE saved_view (
    organisation_id text NOT NULL REFERENCES organisation (id),
    id text NOT NULL,
    created_at text NOT NULL,
    created_by text NOT NULL,
    updated_at text NOT NULL,
    updated_by text NOT NULL,
    version bigint NOT NULL,
    person_id text NOT NULL,
    list_name text NOT NULL,
    name text NOT NULL,
    query text NOT NULL,
    shared bigint NOT NULL,
    status text NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX saved_view_by_list ON saved_view (organisation_id, list_name, status, id);
CREATE INDEX saved_view_by_person ON saved_view (organisation_id, person_id, id);
