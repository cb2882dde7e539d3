-- Retention (D17, docs/decisions/0034): superseded events lose their payloads with age.

-- Rises with every step that took some; it enters names of segments and entity tags.
ALTER TABLE feed ADD COLUMN thinned bigint NOT NULL DEFAULT 0;

-- What a tenant has in place of the service's own setting.
CREATE TABLE retention_rule (
  tenant uuid NOT NULL,
  rule text NOT NULL,              -- 'retain-contacts', 'retain-properties', 'expire-contacts'
  days integer NOT NULL,           -- 0: off
  PRIMARY KEY (tenant, rule)
);

-- How far the two walks through each feed have come (see storage/retention-store.ts).
CREATE TABLE thin_progress (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  aged bigint NOT NULL,            -- position: what was superseded up to there, and old enough, is thinned
  superseded bigint NOT NULL,      -- position: what events up to there have superseded was looked at
  held_from bigint,                -- position of the first event that was passed because its subject was on hold or restricted
  held_before bigint,              -- ticks: what had been superseded before then was due at the time
  PRIMARY KEY (tenant, feed)
);

-- Which events were thinned with which step of their feed: for moving a tenant.
CREATE TABLE thinned_event (
  tenant uuid NOT NULL,
  thinned bigint NOT NULL,
  position bigint NOT NULL,
  feed smallint NOT NULL,
  PRIMARY KEY (tenant, feed, thinned, position)
);

-- The node that thins, one at a time.
CREATE TABLE thin_turn (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  node text NOT NULL,
  until_ms bigint NOT NULL         -- milliseconds since 1970
);
INSERT INTO thin_turn (node, until_ms) VALUES ('', 0);

SELECT share_with_nodes('retention_rule', 'SELECT, INSERT, UPDATE, DELETE'),
  share_with_nodes('thin_progress', 'SELECT, INSERT, UPDATE'), share_with_nodes('thinned_event', 'SELECT, INSERT'),
  share_with_nodes('thin_turn', 'SELECT, UPDATE');

-- These events lose their payloads, unless an erasure has taken them meanwhile, and all hashes that were made of them go.
CREATE FUNCTION thin_payloads(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[], new_json text[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  UPDATE event t SET json = given.json, state = 'thinned', branch = NULL
  FROM unnest(positions, new_json) AS given (position, json)
  WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = given.position AND t.state = 'full';
  UPDATE event_id i SET content_hash = NULL FROM unnest(ids) AS given (id)
  WHERE i.tenant = of_tenant AND i.feed = of_feed AND i.id = given.id;
  UPDATE event_id i SET content_hash = NULL FROM unnest(positions) AS given (position)
  WHERE i.tenant = of_tenant AND i.feed = of_feed AND i.position = given.position AND i.skipped IS NOT NULL;
END $$;

-- One step of retention: these events lose their payloads, and the feed's `thinned` rises. The node that has the turn thins; the
-- counter is taken last and held for no longer than the commit takes. An append that was planned before stays as good as it was:
-- of superseded events it reads only what thinning keeps.
-- A hold is added under the counter, and a restriction begun, so both are looked for once that is taken, and all is rolled back where
-- there is one.
--   'thinned'; 'busy': another node is at it; 'closed': the tenant is not at home here
CREATE FUNCTION thin_events(
  of_tenant uuid, of_feed smallint, from_aged bigint, from_superseded bigint, to_aged bigint, to_superseded bigint,
  to_held_from bigint, to_held_before bigint, positions bigint[], ids uuid[], subjects uuid[], new_json text[],
  of_node text, turn_ms bigint, given_ms bigint
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  now_ms bigint := coalesce(given_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  walked thin_progress;
  new_thinned bigint;
BEGIN
  PERFORM FROM thin_turn WHERE node = of_node OR until_ms <= now_ms FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 'busy'; END IF;
  UPDATE thin_turn SET node = of_node, until_ms = now_ms + turn_ms;
  SELECT * INTO walked FROM thin_progress p WHERE p.tenant = of_tenant AND p.feed = of_feed;
  IF coalesce(walked.aged, 0) <> from_aged OR coalesce(walked.superseded, 0) <> from_superseded THEN RETURN 'busy'; END IF;
  -- What another store has already taken over is not changed here any more.
  IF NOT EXISTS (SELECT FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed AND f.move IS NULL) THEN
    RETURN 'closed';
  END IF;
  INSERT INTO thin_progress (tenant, feed, aged, superseded, held_from, held_before)
  VALUES (of_tenant, of_feed, to_aged, to_superseded, to_held_from, to_held_before)
  ON CONFLICT (tenant, feed) DO UPDATE SET aged = excluded.aged, superseded = excluded.superseded,
    held_from = excluded.held_from, held_before = excluded.held_before;
  IF cardinality(positions) > 0 THEN
    PERFORM thin_payloads(of_tenant, of_feed, positions, ids, new_json);
    UPDATE feed f SET thinned = f.thinned + 1 WHERE f.tenant = of_tenant AND f.feed = of_feed
      RETURNING f.thinned INTO new_thinned;
    IF EXISTS (
      SELECT FROM unnest(subjects) AS given (subject)
      JOIN hold h ON h.tenant = of_tenant AND h.feed = of_feed AND h.subject = given.subject
      WHERE h.ended_ms IS NULL AND h.until_ms > now_ms
    ) OR EXISTS (
      SELECT FROM unnest(subjects) AS given (subject)
      JOIN restriction r ON r.tenant = of_tenant AND r.feed = of_feed AND r.subject = given.subject
      WHERE r.state IN ('hiding', 'hidden', 'restricted', 'lifting')
    ) THEN RAISE EXCEPTION 'on hold' USING ERRCODE = 'PE001'; END IF;
    INSERT INTO thinned_event (tenant, feed, thinned, position)
    SELECT of_tenant, of_feed, new_thinned, place FROM unnest(positions) AS given (place);
  END IF;
  RETURN 'thinned';
END $$;
