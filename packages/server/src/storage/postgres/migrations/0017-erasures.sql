-- Erasure (D17, docs/decisions/0027): payloads are reduced, and everything else stays.
CREATE TABLE erasure (
  erasure uuid PRIMARY KEY,        -- UUIDv7, so they lie in the order in which they were begun
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid,                    -- agent_ref or contact_ref; NULL where one event was erased
  event_id uuid,                   -- of that event; NULL where a subject was erased
  reason text NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref text,
  received_on text,                -- YYYY-MM-DD
  actor text NOT NULL,             -- id of the key that asked for it
  state text NOT NULL,             -- 'reducing', 'reduced', 'unreachable', 'overwritten'
  next_position bigint NOT NULL,   -- events before it are reduced
  last_position bigint NOT NULL,   -- the last one that is to be reduced
  events bigint NOT NULL,          -- how many are to be reduced
  reduced bigint NOT NULL,         -- how many of them have been
  revision bigint NOT NULL,        -- the feed's, after the last step
  closing_event uuid,              -- id of the event that closed the subject
  closing_sequence bigint,
  begun_ms bigint NOT NULL,        -- milliseconds since 1970
  reduced_ms bigint,
  unreachable_ms bigint,
  overwritten_ms bigint
);
CREATE INDEX erasure_open ON erasure (erasure) WHERE state IN ('reducing', 'reduced');
CREATE INDEX erasure_tenant ON erasure (tenant, erasure);

-- Nodes that hold nothing any more that they read of the feed before.
CREATE TABLE erasure_node (
  erasure uuid NOT NULL,
  node uuid NOT NULL,
  PRIMARY KEY (erasure, node)
);

-- Which events were reduced with which revision of their feed: for copies that keep the history.
CREATE TABLE reduced_event (
  tenant uuid NOT NULL,
  revision bigint NOT NULL,
  position bigint NOT NULL,
  sequence bigint NOT NULL,
  feed smallint NOT NULL,
  PRIMARY KEY (tenant, feed, revision, position)
);

SELECT share_with_nodes('erasure', 'SELECT, INSERT, UPDATE'), share_with_nodes('erasure_node', 'SELECT, INSERT'),
  share_with_nodes('reduced_event', 'SELECT, INSERT'), share_with_nodes('event', 'UPDATE'),
  share_with_nodes('event_id', 'UPDATE');

-- Samples of a column's values would be copies of payloads, in a table that no command of ours rewrites. No query needs them.
ALTER TABLE event ALTER COLUMN json SET STATISTICS 0, ALTER COLUMN branch SET STATISTICS 0;
ALTER TABLE subject ALTER COLUMN branch SET STATISTICS 0, ALTER COLUMN payload_hash SET STATISTICS 0;

-- These events lose their payloads, and all hashes that were made of them go.
CREATE FUNCTION take_payloads(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[], new_json text[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  UPDATE event t SET json = given.json, state = 'erased', branch = NULL
  FROM unnest(positions, new_json) AS given (position, json)
  WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = given.position;
  UPDATE event_id i SET content_hash = NULL FROM unnest(ids) AS given (id)
  WHERE i.tenant = of_tenant AND i.feed = of_feed AND i.id = given.id;
  UPDATE event_id i SET content_hash = NULL FROM unnest(positions) AS given (position)
  WHERE i.tenant = of_tenant AND i.feed = of_feed AND i.position = given.position AND i.skipped IS NOT NULL;
END $$;

-- One step of an erasure: these events lose their payloads, and the feed's revision rises. Whoever is at the erasure has its row.
-- The counter is taken last and held for no longer than the commit takes: of what is reduced nothing is read for an append that
-- the revision would not make stale.
--   'reduced'; 'busy': another session is at it, or was meanwhile
CREATE FUNCTION reduce_events(
  of_erasure uuid, from_position bigint, to_position bigint, is_last boolean, counted integer,
  positions bigint[], ids uuid[], sequences bigint[], new_json text[], given_ms bigint
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  e erasure;
  new_revision bigint;
BEGIN
  SELECT * INTO e FROM erasure WHERE erasure = of_erasure FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND OR e.state <> 'reducing' OR e.next_position <> from_position THEN RETURN 'busy'; END IF;
  -- What another store has already taken over is not changed here any more.
  IF EXISTS (SELECT FROM feed f WHERE f.tenant = e.tenant AND f.feed = e.feed AND f.move IS NOT NULL) THEN
    RETURN 'busy';
  END IF;
  IF cardinality(positions) > 0 THEN
    PERFORM take_payloads(e.tenant, e.feed, positions, ids, new_json);
    UPDATE feed f SET revision = f.revision + 1 WHERE f.tenant = e.tenant AND f.feed = e.feed
      RETURNING f.revision INTO new_revision;
    INSERT INTO reduced_event (tenant, feed, revision, position, sequence)
    SELECT e.tenant, e.feed, new_revision, place, number FROM unnest(positions, sequences) AS given (place, number);
  END IF;
  UPDATE erasure SET next_position = to_position, reduced = e.reduced + counted,
    revision = coalesce(new_revision, e.revision), state = CASE WHEN is_last THEN 'reduced' ELSE 'reducing' END,
    reduced_ms = CASE WHEN is_last THEN coalesce(given_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) END
  WHERE erasure = of_erasure;
  RETURN 'reduced';
END $$;
