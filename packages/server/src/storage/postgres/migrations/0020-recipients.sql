-- Who had been sent an erased contact (D28). An index from a block of a feed to what keys were sent of it is built afterwards, beside
-- nodes that work.
--
-- What keys had been sent of the feed when an erasure became unreachable, of the hours that reached up to it: rows of `sent`, which
-- later reads of the same hour are added to.
CREATE TABLE erasure_sent (
  erasure uuid NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  view text COLLATE "C" NOT NULL,
  hour integer NOT NULL,
  block bigint NOT NULL,
  ranges int8multirange NOT NULL,
  PRIMARY KEY (erasure, hour, key_id, view, block)
);

-- Erasures for which that was noted.
CREATE TABLE erasure_noted (
  erasure uuid PRIMARY KEY,
  doubt_ms bigint                  -- a run had said nothing since then; NULL: all had
);

SELECT share_with_nodes('erasure_sent', 'SELECT, INSERT'), share_with_nodes('erasure_noted', 'SELECT, INSERT');
