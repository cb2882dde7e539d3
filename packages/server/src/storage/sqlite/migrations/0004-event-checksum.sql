-- A CRC-32 of json, begun from the position (event-checksum.ts). NULL in events of a build that made none, until the
-- writer has filled it in; `checksums_filled_through` in meta is the place up to which it has, while it is at it.
ALTER TABLE event ADD COLUMN checksum INTEGER;
INSERT INTO meta SELECT 'checksums_filled_through', '0' WHERE EXISTS (SELECT 1 FROM event);
