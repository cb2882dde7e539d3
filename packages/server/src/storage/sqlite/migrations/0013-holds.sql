-- Holds (D17, docs/decisions/0028): a property or contact that is not to be erased, nor reduced by retention, until a day.
CREATE TABLE hold (
  hold TEXT PRIMARY KEY,           -- UUIDv7, so they lie in the order in which they were added
  feed_no INTEGER NOT NULL,
  subject BLOB NOT NULL,           -- agent_ref or contact_ref, 16 bytes
  ground TEXT NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref TEXT,
  actor TEXT NOT NULL,
  added_ms INTEGER NOT NULL,       -- milliseconds since 1970
  until_ms INTEGER NOT NULL,       -- the first one at which it holds no more
  reported_ms INTEGER,             -- when its expiry was reported
  ended_ms INTEGER,                -- NULL: nobody has ended it
  ended_by TEXT
) STRICT, WITHOUT ROWID;
-- Of a subject, those that may hold it:  … WHERE feed_no = ? AND subject = ? AND ended_ms IS NULL AND until_ms > now
CREATE INDEX hold_subject ON hold (feed_no, subject, until_ms) WHERE ended_ms IS NULL;
CREATE INDEX hold_unreported ON hold (until_ms) WHERE ended_ms IS NULL AND reported_ms IS NULL;
