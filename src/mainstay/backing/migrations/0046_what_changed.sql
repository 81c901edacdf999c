-- Which fields of which records an act has changed, for their history. Of acts before this, nobody noted it.
ALTER TABLE audit ADD COLUMN changed text;
