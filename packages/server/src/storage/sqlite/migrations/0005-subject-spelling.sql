-- How the subject's first event spells its UUID: '' for lower case. NULL where it was not kept yet; then the next publication
-- about the subject looks at its first event.
ALTER TABLE subject ADD COLUMN spelling TEXT;
-- 8 bytes of a hash of the latest payload's update_date (subject-identity.ts); NULL where it has none, or is not known yet.
ALTER TABLE subject ADD COLUMN update_date_hash BLOB;
