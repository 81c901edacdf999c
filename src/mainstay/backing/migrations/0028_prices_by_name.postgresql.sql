-- The price list and those one buys from, by name as people look for one: in the order in which the embedded database
-- has them, whatever the language of this one is.
ALTER TABLE price_item ADD COLUMN name_folded text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE supplier ADD COLUMN name_folded text COLLATE "C" NOT NULL DEFAULT '';
UPDATE price_item SET name_folded = lower(name);
UPDATE supplier SET name_folded = lower(name);
CREATE INDEX price_item_by_name ON price_item (organisation_id, status, name_folded, id);
CREATE INDEX supplier_by_name ON supplier (organisation_id, status, name_folded, id);
