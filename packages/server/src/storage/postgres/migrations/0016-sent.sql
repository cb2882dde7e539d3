-- What each key was sent (D28): within an hour, of one block of 16,384 numbers. Compared by bytes, whatever the database's
-- collation, so that pieces are locked and read in one order.
CREATE TABLE sent (
  key_id text COLLATE "C" NOT NULL,
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  view text COLLATE "C" NOT NULL,  -- of ordinals; 'numbers' of sequence numbers
  hour integer NOT NULL,           -- hours since 1970
  block bigint NOT NULL,
  ranges int8multirange NOT NULL,
  PRIMARY KEY (key_id, tenant, feed, view, hour, block)
) WITH (fillfactor = 70);

-- The threads that send, each with how far what it has sent stands in the table above.
CREATE TABLE sent_run (
  run uuid PRIMARY KEY,            -- random, another one with each start
  began_ms bigint NOT NULL,        -- milliseconds since 1970
  through_ms bigint NOT NULL,
  lost_ms bigint,                  -- found silent at that time
  ended boolean NOT NULL           -- all it sent stands there
);

SELECT share_with_nodes('sent', 'SELECT, INSERT, UPDATE'), share_with_nodes('sent_run', 'SELECT, INSERT, UPDATE');
