-- Until when the metadata of an app are used that were fetched from its ID, an address; null if it registered itself.
ALTER TABLE oauth_client ADD COLUMN fresh_until text;
