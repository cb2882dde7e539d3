-- When publishers and consumers were last there, and what is expected of them (PROTOCOL §14.7). The tables are empty, so the step takes
-- milliseconds.
CREATE TABLE presence (
  kind INTEGER NOT NULL,           -- 1: what publishes to a feed, 2: a consumer
  tenant TEXT NOT NULL,            -- of a publisher
  key_id TEXT NOT NULL,            -- of a consumer
  part TEXT NOT NULL,              -- the publisher's feed, or the consumer's name; 'default': the key itself
  first_ms INTEGER,                -- milliseconds since 1970, as all times here; NULL: not seen yet
  last_ms INTEGER,                 -- to some minutes
  pauses TEXT NOT NULL,            -- JSON: [day, milliseconds], the longest pause that ended on each of the last 14 days
  active_ms INTEGER,               -- since when something can be expected of it
  silent_ms INTEGER,               -- since when it is silent; NULL: it is not
  told INTEGER NOT NULL,           -- 0: its silence, or the end of it, is still to be told
  expected_ms INTEGER,             -- as it was set; 0: nothing is expected; NULL: it is learned
  PRIMARY KEY (kind, tenant, key_id, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX presence_silent ON presence (silent_ms) WHERE silent_ms IS NOT NULL;

-- The node that looks, one at a time.
CREATE TABLE silence_turn (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  number INTEGER NOT NULL,
  looked_ms INTEGER NOT NULL,
  watched_ms INTEGER NOT NULL,     -- since when there were no more than some minutes between two looks
  minute INTEGER NOT NULL          -- up to which publications were looked through
) STRICT;
INSERT INTO silence_turn VALUES (1, 0, 0, 0, 0);
