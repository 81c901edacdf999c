-- Which records an act touched, so that a record's history can be told as long as there is a record.
ALTER TABLE audit ADD COLUMN records text;

-- What is not tried any more.
CREATE INDEX outbox_parked ON outbox (id) WHERE due_at IS NULL;

-- When the next day begins at the organisation's place; what is due once a day is done then.
ALTER TABLE organisation ADD COLUMN day_begins_at text NOT NULL DEFAULT '';
CREATE INDEX organisation_by_day ON organisation (day_begins_at);

ALTER TABLE organisation ADD COLUMN registration_number text;

-- What was sent beside the body.
ALTER TABLE delivery_attempt ADD COLUMN headers text;
