-- When publishers and consumers were last there, and what is expected of them (PROTOCOL §14.7). The tables are empty, so the step takes
-- milliseconds. Some of each page is left free: rows are changed every five minutes while their publishers and consumers are there.
CREATE TABLE presence (
  kind smallint NOT NULL,          -- 1: what publishes to a feed, 2: a consumer
  tenant text COLLATE "C" NOT NULL, -- of a publisher
  key_id text COLLATE "C" NOT NULL, -- of a consumer
  part text COLLATE "C" NOT NULL,  -- the publisher's feed, or the consumer's name; 'default': the key itself
  first_ms bigint,                 -- milliseconds since 1970, as all times here; NULL: not seen yet
  last_ms bigint,                  -- to some minutes
  pauses text NOT NULL,            -- JSON: [day, milliseconds], the longest pause that ended on each of the last 14 days
  active_ms bigint,                -- since when something can be expected of it
  silent_ms bigint,                -- since when it is silent; NULL: it is not
  told boolean NOT NULL,           -- false: its silence, or the end of it, is still to be told
  expected_ms bigint,              -- as it was set; 0: nothing is expected; NULL: it is learned
  PRIMARY KEY (kind, tenant, key_id, part)
) WITH (fillfactor = 60);
CREATE INDEX presence_silent ON presence (silent_ms) WHERE silent_ms IS NOT NULL;

-- The node that looks, one at a time.
CREATE TABLE silence_turn (
  only_row boolean PRIMARY KEY CHECK (only_row),
  number bigint NOT NULL,
  looked_ms bigint NOT NULL,
  watched_ms bigint NOT NULL,      -- since when there were no more than some minutes between two looks
  minute integer NOT NULL          -- up to which publications were looked through
) WITH (fillfactor = 10);
INSERT INTO silence_turn VALUES (true, 0, 0, 0, 0);

SELECT share_with_nodes('presence', 'SELECT, INSERT, UPDATE, DELETE'), share_with_nodes('silence_turn', 'SELECT, UPDATE');
