-- Erasure (D17, docs/decisions/0027): payloads are reduced, and everything else stays.
CREATE TABLE erasure (
  erasure TEXT PRIMARY KEY,        -- UUIDv7, so they lie in the order in which they were begun
  feed_no INTEGER NOT NULL,
  subject BLOB,                    -- agent_ref or contact_ref, 16 bytes; NULL where one event was erased
  event_id BLOB,                   -- of that event; NULL where a subject was erased
  reason TEXT NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref TEXT,
  received_on TEXT,                -- YYYY-MM-DD
  actor TEXT NOT NULL,             -- id of the key that asked for it
  state TEXT NOT NULL,             -- 'reducing', 'reduced', 'unreachable', 'overwritten'
  next_position INTEGER NOT NULL,  -- events before it are reduced
  last_position INTEGER NOT NULL,  -- the last one that is to be reduced
  events INTEGER NOT NULL,         -- how many are to be reduced
  reduced INTEGER NOT NULL,        -- how many of them have been
  revision INTEGER NOT NULL,       -- the feed's, after the last step
  closing_event BLOB,              -- id of the event that closed the subject
  closing_sequence INTEGER,
  begun_ms INTEGER NOT NULL,       -- milliseconds since 1970
  reduced_ms INTEGER,
  unreachable_ms INTEGER,
  overwritten_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX erasure_open ON erasure (erasure) WHERE state IN ('reducing', 'reduced');

-- Nodes that hold nothing any more that they read of the feed before.
CREATE TABLE erasure_node (
  erasure TEXT NOT NULL,
  node TEXT NOT NULL,
  PRIMARY KEY (erasure, node)
) STRICT, WITHOUT ROWID;

-- Which events were reduced with which revision of their feed: for copies that keep the history.
CREATE TABLE reduced_event (
  feed_no INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  position INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (feed_no, revision, position)
) STRICT, WITHOUT ROWID;

-- From an event to the ids that were skipped because they came with its payload: their hashes go with it.
CREATE INDEX event_id_skipped_position ON event_id (feed_no, position) WHERE skipped IS NOT NULL;
