-- Who had been sent an erased contact (D28): from a block of a feed to what keys were sent of it.
CREATE INDEX sent_block ON sent (tenant, feed, block, hour, key_id, view);

-- What keys had been sent of the feed when an erasure became unreachable, of the hours that reached up to it: rows of `sent`, which
-- later reads of the same hour are added to.
CREATE TABLE erasure_sent (
  erasure TEXT NOT NULL,
  key_id TEXT NOT NULL,
  view TEXT NOT NULL,
  hour INTEGER NOT NULL,
  block INTEGER NOT NULL,
  ranges TEXT NOT NULL,
  PRIMARY KEY (erasure, hour, key_id, view, block)
) STRICT, WITHOUT ROWID;

-- Erasures for which that was noted.
CREATE TABLE erasure_noted (
  erasure TEXT PRIMARY KEY,
  doubt_ms INTEGER                 -- a run had said nothing since then; NULL: all had
) STRICT, WITHOUT ROWID;
