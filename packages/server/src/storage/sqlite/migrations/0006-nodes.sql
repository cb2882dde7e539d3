-- The processes that serve this store, each announcing itself now and then. A meta value `pepper_id` comes with the first
-- `pepper finish`: the pepper that new keys are made with.
CREATE TABLE node (
  node TEXT PRIMARY KEY,         -- random, another one with each start
  place TEXT NOT NULL,           -- machine and process id
  pepper_ids TEXT NOT NULL,      -- of the peppers it knows, separated by spaces
  seen_ms INTEGER NOT NULL       -- milliseconds since 1970
) STRICT;
