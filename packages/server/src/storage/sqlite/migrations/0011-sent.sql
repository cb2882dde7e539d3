-- What each key was sent (D28): within an hour, of one block of 16,384 numbers.
CREATE TABLE sent (
  key_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  feed TEXT NOT NULL,
  view TEXT NOT NULL,            -- of ordinals; 'numbers' of sequence numbers
  hour INTEGER NOT NULL,         -- hours since 1970; in the shell: datetime(hour * 3600, 'unixepoch')
  block INTEGER NOT NULL,
  ranges TEXT NOT NULL,          -- JSON: [first, last] of each, ascending
  PRIMARY KEY (key_id, tenant, feed, view, hour, block)
) STRICT, WITHOUT ROWID;

-- The threads that send, each with how far what it has sent stands in the table above.
CREATE TABLE sent_run (
  run TEXT PRIMARY KEY,          -- random, another one with each start
  began_ms INTEGER NOT NULL,     -- milliseconds since 1970
  through_ms INTEGER NOT NULL,
  lost_ms INTEGER,               -- found silent at that time
  ended INTEGER NOT NULL         -- 1: all it sent stands there
) STRICT;
