-- Contacts that have not changed for long (D17, docs/decisions/0034).

-- Those that are to be erased, or that the agency has kept.
CREATE TABLE expiring_contact (
  feed_no INTEGER NOT NULL,
  subject BLOB NOT NULL,              -- contact_ref, 16 bytes
  position INTEGER NOT NULL,          -- of its latest event; when it has another, this row is about nothing
  unchanged_since_ms INTEGER NOT NULL, -- when that was made, or the contact was kept
  listed_ms INTEGER,                  -- since when it is on the list; NULL: it was kept
  PRIMARY KEY (feed_no, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX expiring_contact_kept ON expiring_contact (feed_no, unchanged_since_ms) WHERE listed_ms IS NULL;

-- Up to which position the latest events of contacts were looked at.
CREATE TABLE expiry_progress (
  feed_no INTEGER PRIMARY KEY,
  listed INTEGER NOT NULL
) STRICT;
