-- How the subject's first event spells its UUID: '' for lower case. NULL where it was not kept yet; then the next publication
-- about the subject looks at its first event.
ALTER TABLE subject ADD COLUMN spelling TEXT;
-- The first 8 bytes of the SHA-256 of the latest payload's update_date; NULL where it has none, or is not known yet.
ALTER TABLE subject ADD COLUMN update_date_hash BLOB;
