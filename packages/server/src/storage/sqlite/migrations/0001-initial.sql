-- The first schema. It is never edited once released: a change is a further file.
-- Look at it with the sqlite3 shell, also while the service runs:  .schema event
-- Times are ticks: 100 ns since 1970-01-01 UTC. In the shell:  datetime(created / 10000000, 'unixepoch')

CREATE TABLE meta (
  -- What is said once about the whole store:
  --   store_id        random, the same in every copy of this store
  --   catalogue       JSON, event type short codes to numbers; they stand in the stored events, so it never changes
  --   start_sequence  the offset of the first epoch, as asked for when the store was created
  --   first_offset    the offset of feeds made from now on; rises with every new epoch
  --   needs_epoch     1 in a copy: numbers may have been shown that it does not hold, publishing waits for a new epoch
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tenant (
  tenant_no INTEGER PRIMARY KEY, -- order of creation
  tenant TEXT NOT NULL UNIQUE,   -- lower-case UUID
  name TEXT NOT NULL,
  created_ms INTEGER NOT NULL,   -- milliseconds since 1970
  suspended INTEGER NOT NULL     -- 1: its keys are refused
) STRICT;

CREATE TABLE feed (
  -- One row per tenant and kind of event: the counter that numbers are given from.
  feed_no INTEGER PRIMARY KEY,   -- stands for (tenant, feed) in the other tables
  tenant TEXT NOT NULL REFERENCES tenant (tenant),
  feed TEXT NOT NULL,            -- 'property' or 'contact'
  epoch TEXT NOT NULL,           -- changes when numbers were carried past a gap
  offset INTEGER NOT NULL,       -- sequence number = position + offset, for events to come
  revision INTEGER NOT NULL,     -- rises when stored payloads are reduced
  last_position INTEGER NOT NULL,
  last_created INTEGER,          -- ticks; NULL while the feed is empty
  UNIQUE (tenant, feed)
) STRICT;

CREATE TABLE event (
  -- place = feed_no << 40 | position: a feed lies together, in order, so a page is one run through this tree.
  -- Position n of feed 3:  SELECT CAST(json AS TEXT) FROM event WHERE place = 3 << 40 | n
  place INTEGER PRIMARY KEY,
  feed_no INTEGER NOT NULL,
  created INTEGER NOT NULL,      -- ticks, strictly rising in a feed
  sequence INTEGER NOT NULL,     -- sequenceNumber, as in the JSON
  id BLOB NOT NULL,              -- the 16 bytes of the UUID; in the shell: hex(id)
  subject BLOB NOT NULL,         -- agent_ref or contact_ref, 16 bytes
  category TEXT,                 -- 'sales', 'lettings'; NULL for contacts
  branch TEXT,
  code TEXT NOT NULL,            -- eventTypeShortCode
  state TEXT NOT NULL,           -- 'full'; 'thinned' or 'erased' once the payload is reduced
  json BLOB NOT NULL             -- the bytes on the wire; last, so that the other columns are read without it
) STRICT;

-- From a time to a position. Measured against a binary search over the dense positions, which needs no index: a bound
-- costs 7 us instead of 124 us and 25 kB of cold reads instead of 181 kB in a feed of a million; in return 18 kB more
-- WAL per single-event commit (both time indexes; 62 kB without) and 21 bytes per event.
CREATE UNIQUE INDEX event_created ON event (feed_no, created);

CREATE TABLE event_id (
  -- Every id ever taken. content_hash: SHA-256 of what was sent, NULL where a repeat must not be answered.
  -- An id can stand for an event with another id: it was sent with a payload equal to that event's, and nothing stored.
  feed_no INTEGER NOT NULL,
  id BLOB NOT NULL,
  position INTEGER NOT NULL,
  content_hash BLOB,
  PRIMARY KEY (feed_no, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE subject (
  -- The latest event of every property or contact.
  feed_no INTEGER NOT NULL,
  subject BLOB NOT NULL,
  position INTEGER NOT NULL,
  published INTEGER NOT NULL,
  category TEXT,
  branch TEXT,
  code TEXT NOT NULL,
  payload_hash BLOB,             -- SHA-256 of the latest payload; NULL after a removal
  PRIMARY KEY (feed_no, subject)
) STRICT, WITHOUT ROWID;

-- The latest events in order, so that reading only those never walks through superseded ones.
CREATE INDEX subject_latest ON subject (feed_no, category, position);

CREATE TABLE view (
  -- A part of a feed with dense ordinals of its own. The whole feed needs none: its ordinal is the position.
  feed_no INTEGER NOT NULL,
  view TEXT NOT NULL,
  filter TEXT NOT NULL,          -- what an event must be to stand in it
  last_ordinal INTEGER NOT NULL,
  PRIMARY KEY (feed_no, view)
) STRICT, WITHOUT ROWID;

CREATE TABLE view_entry (
  feed_no INTEGER NOT NULL,
  view TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  position INTEGER NOT NULL,
  created INTEGER NOT NULL,      -- as in event
  PRIMARY KEY (feed_no, view, ordinal)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX view_entry_created ON view_entry (feed_no, view, created);

CREATE TABLE key (
  key_no INTEGER PRIMARY KEY,    -- order of creation
  key_id TEXT NOT NULL UNIQUE,
  secret_hash BLOB NOT NULL,     -- HMAC-SHA-256 of the secret with the pepper; the key itself is nowhere
  pepper_id TEXT NOT NULL,
  label TEXT NOT NULL,
  operator INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER,
  last_used_ms INTEGER           -- at most a minute behind
) STRICT;

CREATE TABLE key_grant (
  key_no INTEGER NOT NULL REFERENCES key (key_no),
  grant_no INTEGER NOT NULL,
  tenant TEXT NOT NULL REFERENCES tenant (tenant),
  scopes TEXT NOT NULL,          -- separated by spaces
  PRIMARY KEY (key_no, grant_no)
) STRICT, WITHOUT ROWID;
