-- Browsers that have signed in to an account before, known by a secret of which only the hash is kept: strangers who try
-- passwords do not use up their attempts.
CREATE TABLE device (
    hash text NOT NULL PRIMARY KEY,
    account_id text NOT NULL REFERENCES account (id),
    created_at text NOT NULL
);
CREATE INDEX device_by_account ON device (account_id, created_at);
CREATE INDEX device_by_age ON device (created_at);

-- What was typed into a form whose sign-in had ended, sealed, and whose browser it was: for that account only.
ALTER TABLE return_ticket ADD COLUMN typed text;
ALTER TABLE return_ticket ADD COLUMN account_id text;
