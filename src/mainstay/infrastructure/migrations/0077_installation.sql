-- What is true of the whole installation, such as which secret and which file store belong to its database.
CREATE TABLE installation (
    name text NOT NULL PRIMARY KEY,
    value text NOT NULL
);
