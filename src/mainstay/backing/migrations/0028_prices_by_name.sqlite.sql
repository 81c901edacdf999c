-- The price list and those one buys from, by name as people look for one.
ALTER TABLE price_item ADD COLUMN name_folded text NOT NULL DEFAULT '';
ALTER TABLE supplier ADD COLUMN name_folded text NOT NULL DEFAULT '';
UPDATE price_item SET name_folded = lower(name);
UPDATE supplier SET name_folded = lower(name);
CREATE INDEX price_item_by_name ON price_item (organisation_id, status, name_folded, id);
CREATE INDEX supplier_by_name ON supplier (organisation_id, status, name_folded, id);
