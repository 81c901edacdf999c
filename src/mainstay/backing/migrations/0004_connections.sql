-- Apps that registered themselves. They belong to no organisation until a person approves one for theirs.
CREATE TABLE oauth_client (
    id text NOT NULL PRIMARY KEY,
    metadata text NOT NULL,
    secret_hash text,
    created_at text NOT NULL,
    approved_at text
);
CREATE INDEX oauth_client_by_age ON oauth_client (created_at) WHERE approved_at IS NULL;

-- One approval: this app, this person, this organisation, this access. It is listed from its first exchange on.
CREATE TABLE connection (
    organisation_id text NOT NULL,
    id text NOT NULL,
    client_id text NOT NULL REFERENCES oauth_client (id),
    client_name text NOT NULL,
    person_id text NOT NULL,
    access text NOT NULL CHECK (access IN ('read', 'write')),
    created_at text NOT NULL,
    started_at text,
    last_used_at text,
    ended_at text,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, person_id) REFERENCES person (organisation_id, id)
);
CREATE INDEX connection_listed ON connection (organisation_id, id) WHERE started_at IS NOT NULL AND ended_at IS NULL;
CREATE INDEX connection_by_person ON connection (organisation_id, person_id, id);
CREATE INDEX connection_by_client ON connection (client_id);

CREATE TABLE oauth_code (
    hash text NOT NULL PRIMARY KEY,
    organisation_id text NOT NULL,
    connection_id text NOT NULL,
    client_id text NOT NULL,
    redirect_uri text NOT NULL,
    challenge text NOT NULL,
    expires_at text NOT NULL,
    used_at text,
    FOREIGN KEY (organisation_id, connection_id) REFERENCES connection (organisation_id, id)
);
CREATE INDEX oauth_code_by_age ON oauth_code (expires_at);

-- Access and refresh tokens. A refresh token that was used stays here until it would have expired: a second use is theft.
CREATE TABLE oauth_token (
    hash text NOT NULL PRIMARY KEY,
    organisation_id text NOT NULL,
    connection_id text NOT NULL,
    client_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
    expires_at text NOT NULL,
    used_at text,
    FOREIGN KEY (organisation_id, connection_id) REFERENCES connection (organisation_id, id)
);
CREATE INDEX oauth_token_by_age ON oauth_token (expires_at);

-- Approval screens that were answered: an answer counts once.
CREATE TABLE oauth_ticket (
    nonce text NOT NULL PRIMARY KEY,
    expires_at text NOT NULL
);
