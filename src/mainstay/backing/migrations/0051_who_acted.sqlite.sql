-- By whose hand an act was done, and through which key or app, for the list of all that happened. The chain of the trail is
-- about the stamp, from which both follow. What people did themselves is most of it, and is not written anew.
ALTER TABLE audit ADD COLUMN acted_by text NOT NULL DEFAULT 'person';
ALTER TABLE audit ADD COLUMN client_id text;
DROP TRIGGER audit_is_not_changed;
-- First, so that it is not kept in step with every row that is written anew.
DROP INDEX audit_by_person;
UPDATE audit SET
    person_id = json_extract(actor, '$.person.id'),
    client_id = json_extract(actor, '$.via.client.id'),
    acted_by = CASE
        WHEN json_extract(actor, '$.via.client.id') LIKE 'connection@_%' ESCAPE '@' THEN 'app'
        WHEN json_extract(actor, '$.via.client.id') IS NOT NULL THEN 'key'
        WHEN json_extract(actor, '$.person.id') IS NOT NULL THEN 'person'
        -- The first stamps do not say what acted: a person, or else the operator.
        ELSE coalesce(json_extract(actor, '$.kind'), 'operator')
    END
WHERE person_id IS NULL OR actor LIKE '%"client":{%';
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
CREATE INDEX audit_by_person ON audit (organisation_id, person_id, at, sequence) WHERE person_id IS NOT NULL;
CREATE INDEX audit_by_client ON audit (organisation_id, client_id, at, sequence) WHERE client_id IS NOT NULL;
CREATE INDEX audit_by_hand ON audit (organisation_id, acted_by, at, sequence);
CREATE INDEX audit_by_moment ON audit (organisation_id, at, sequence);
