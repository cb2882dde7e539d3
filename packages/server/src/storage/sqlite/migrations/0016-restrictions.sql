-- Restriction (D17, docs/decisions/0033): what was published of a contact is kept here, and its events show that it is gone.
CREATE TABLE kept_event (
  feed_no INTEGER NOT NULL,
  subject BLOB NOT NULL,           -- contact_ref, 16 bytes
  position INTEGER NOT NULL,       -- of the event, whose state is 'restricted'
  sequence INTEGER NOT NULL,
  json BLOB NOT NULL,              -- as it was published
  checksum INTEGER NOT NULL,       -- as in event
  PRIMARY KEY (feed_no, subject, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE restriction (
  restriction TEXT PRIMARY KEY,    -- UUIDv7, so they lie in the order in which they were begun
  feed_no INTEGER NOT NULL,
  subject BLOB NOT NULL,
  reason TEXT NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref TEXT,
  actor TEXT NOT NULL,
  state TEXT NOT NULL,             -- 'hiding', 'hidden', 'restricted', 'lifting', 'lifted', 'erased'
  next_position INTEGER NOT NULL,  -- events before it are hidden, or shown again
  last_position INTEGER NOT NULL,  -- the last one that is to be
  closing_event BLOB NOT NULL,     -- id of the event that took the contact from consumers
  closing_sequence INTEGER NOT NULL,
  begun_ms INTEGER NOT NULL,       -- milliseconds since 1970
  restricted_ms INTEGER,
  ended_ms INTEGER,
  ended_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX restriction_open ON restriction (restriction) WHERE state IN ('hiding', 'hidden', 'lifting');
CREATE INDEX restriction_subject ON restriction (feed_no, subject) WHERE state IN ('hiding', 'hidden', 'restricted', 'lifting');

-- The short code that the latest event of a restricted contact would be shown with. NULL: it is not restricted.
ALTER TABLE subject ADD COLUMN kept_code TEXT;
