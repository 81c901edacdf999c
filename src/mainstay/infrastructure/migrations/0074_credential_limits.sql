-- What a key or an app is limited to: toolsets as a JSON list, the amount above which its person confirms in the office,
-- and the last day on which it works, with the moment at which that day ends. Null: not limited.
ALTER TABLE api_key ADD COLUMN toolsets text;
ALTER TABLE api_key ADD COLUMN amount_limit bigint;
ALTER TABLE api_key ADD COLUMN expires_on text;
ALTER TABLE api_key ADD COLUMN expires_at text;
-- Whether someone set these limits who may name owners: then only they loosen them.
ALTER TABLE api_key ADD COLUMN limited_by_owner bigint NOT NULL DEFAULT 0;
ALTER TABLE connection ADD COLUMN toolsets text;
ALTER TABLE connection ADD COLUMN amount_limit bigint;
ALTER TABLE connection ADD COLUMN expires_on text;
ALTER TABLE connection ADD COLUMN expires_at text;
ALTER TABLE connection ADD COLUMN limited_by_owner bigint NOT NULL DEFAULT 0;
