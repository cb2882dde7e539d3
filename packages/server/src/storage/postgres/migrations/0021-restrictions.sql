-- Restriction (D17, docs/decisions/0033): what was published of a contact is kept here, and its events show that it is gone.
CREATE TABLE kept_event (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid NOT NULL,           -- contact_ref
  position bigint NOT NULL,        -- of the event, whose state is 'restricted'
  sequence bigint NOT NULL,
  json text NOT NULL,              -- as it was published
  PRIMARY KEY (tenant, feed, subject, position)
);
-- Samples of a column's values would be copies of payloads.
ALTER TABLE kept_event ALTER COLUMN json SET STATISTICS 0;

CREATE TABLE restriction (
  restriction uuid PRIMARY KEY,    -- UUIDv7, so they lie in the order in which they were begun
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid NOT NULL,
  reason text NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref text,
  actor text NOT NULL,
  state text NOT NULL,             -- 'hiding', 'hidden', 'restricted', 'lifting', 'lifted', 'erased'
  next_position bigint NOT NULL,   -- events before it are hidden, or shown again
  last_position bigint NOT NULL,   -- the last one that is to be
  closing_event uuid NOT NULL,     -- id of the event that took the contact from consumers
  closing_sequence bigint NOT NULL,
  begun_ms bigint NOT NULL,        -- milliseconds since 1970
  restricted_ms bigint,
  ended_ms bigint,
  ended_by text
);
CREATE INDEX restriction_open ON restriction (restriction) WHERE state IN ('hiding', 'hidden', 'lifting');
CREATE INDEX restriction_tenant ON restriction (tenant, restriction);
CREATE INDEX restriction_subject ON restriction (tenant, feed, subject)
  WHERE state IN ('hiding', 'hidden', 'restricted', 'lifting');

SELECT share_with_nodes('kept_event', 'SELECT, INSERT, UPDATE, DELETE'),
  share_with_nodes('restriction', 'SELECT, INSERT, UPDATE');

-- These events lose their payloads, kept ones too, and all hashes that were made of them go. What is kept is looked for after
-- the events are locked, so that what another session has just put aside is found.
CREATE OR REPLACE FUNCTION take_payloads(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[], new_json text[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  UPDATE event t SET json = given.json, state = 'erased', branch = NULL
  FROM unnest(positions, new_json) AS given (position, json)
  WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = given.position;
  DELETE FROM kept_event k USING unnest(positions) AS given (position), event t
  WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = given.position
    AND k.tenant = of_tenant AND k.feed = of_feed AND k.subject = t.subject AND k.position = given.position;
  UPDATE event_id i SET content_hash = NULL FROM unnest(ids) AS given (id)
  WHERE i.tenant = of_tenant AND i.feed = of_feed AND i.id = given.id;
  UPDATE event_id i SET content_hash = NULL FROM unnest(positions) AS given (position)
  WHERE i.tenant = of_tenant AND i.feed = of_feed AND i.position = given.position AND i.skipped IS NOT NULL;
END $$;

-- The bytes of these events go aside, and they show the given ones. Answers the positions of those that showed their payloads.
CREATE FUNCTION hide_events(of_tenant uuid, of_feed smallint, positions bigint[], new_json text[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  shown bigint[];
BEGIN
  SELECT coalesce(array_agg(locked.position ORDER BY locked.position), '{}') INTO shown FROM (
    SELECT t.position FROM event t
    WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = ANY (positions) AND t.state = 'full'
    ORDER BY t.position FOR NO KEY UPDATE
  ) AS locked;
  INSERT INTO kept_event (tenant, feed, subject, position, sequence, json)
  SELECT t.tenant, t.feed, t.subject, t.position, t.sequence, t.json FROM event t
  WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = ANY (shown);
  UPDATE event t SET json = given.json, state = 'restricted'
  FROM unnest(positions, new_json) AS given (position, json)
  WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = given.position AND t.position = ANY (shown);
  RETURN shown;
END $$;

-- These events show again what is kept of them. Answers the positions of those.
CREATE FUNCTION show_events(of_tenant uuid, of_feed smallint, of_subject uuid, positions bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  shown bigint[];
BEGIN
  WITH kept AS (
    DELETE FROM kept_event k
    WHERE k.tenant = of_tenant AND k.feed = of_feed AND k.subject = of_subject AND k.position = ANY (positions)
    RETURNING k.position, k.json
  ), changed AS (
    UPDATE event t SET json = kept.json, state = 'full' FROM kept
    WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = kept.position AND t.state = 'restricted'
    RETURNING t.position
  )
  SELECT coalesce(array_agg(changed.position ORDER BY changed.position), '{}') INTO shown FROM changed;
  RETURN shown;
END $$;

-- Raises a feed's revision for events that show something else now, and notes which.
CREATE FUNCTION note_reduction(of_tenant uuid, of_feed smallint, positions bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  new_revision bigint;
BEGIN
  IF cardinality(positions) = 0 THEN RETURN; END IF;
  UPDATE feed f SET revision = f.revision + 1 WHERE f.tenant = of_tenant AND f.feed = of_feed
    RETURNING f.revision INTO new_revision;
  INSERT INTO reduced_event (tenant, feed, revision, position, sequence)
  SELECT of_tenant, of_feed, new_revision, t.position, t.sequence FROM event t
  WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = ANY (positions);
END $$;

-- One step of a restriction. Whoever is at it has its row; the counter is taken last, as in an erasure's step.
--   'reduced'; 'busy': another session is at it, or was meanwhile
CREATE FUNCTION step_restriction(
  of_restriction uuid, of_state text, from_position bigint, to_position bigint, is_last boolean, positions bigint[],
  new_json text[]
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  r restriction;
  changed bigint[];
BEGIN
  SELECT * INTO r FROM restriction WHERE restriction = of_restriction FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND OR r.state <> of_state OR r.next_position <> from_position THEN RETURN 'busy'; END IF;
  -- What another store has already taken over is not changed here any more.
  IF EXISTS (SELECT FROM feed f WHERE f.tenant = r.tenant AND f.feed = r.feed AND f.move IS NOT NULL) THEN
    RETURN 'busy';
  END IF;
  IF r.state = 'hiding' THEN changed := hide_events(r.tenant, r.feed, positions, new_json);
  ELSE changed := show_events(r.tenant, r.feed, r.subject, positions);
  END IF;
  UPDATE restriction SET next_position = to_position, state = CASE
      WHEN NOT is_last THEN r.state WHEN r.state = 'hiding' THEN 'hidden' ELSE 'lifted' END
  WHERE restriction = of_restriction;
  PERFORM note_reduction(r.tenant, r.feed, changed);
  RETURN 'reduced';
END $$;

-- The short code that the latest event of a restricted contact would be shown with. NULL: it is not restricted.
ALTER TABLE subject ADD COLUMN kept_code text;

CREATE FUNCTION look_up_3(tenants uuid[], feeds smallint[], id_feeds integer[], ids uuid[], subject_feeds integer[],
  subjects uuid[])
RETURNS TABLE (kind text, feed_no integer, key uuid, "position" bigint, hash bytea, published boolean, category text,
  branch text, code text, number_offset bigint, revision bigint, created bigint, sequence bigint, spelling text,
  update_date_hash bytea, kept_code text)
LANGUAGE sql STABLE AS $$
  SELECT 'store', NULL::integer, NULL::uuid, NULL::bigint, NULL::bytea, needs_epoch, NULL, NULL, NULL, NULL::bigint,
    NULL::bigint, now_ticks(), (SELECT last_value FROM window_floor), NULL, NULL::bytea, NULL
  FROM store
  UNION ALL
  SELECT 'feed', given.n::integer, NULL, f.last_position, NULL, f.needs_epoch, NULL, NULL, f.move, f.number_offset, f.revision,
    f.last_created, f.last_sequence, NULL, NULL, NULL
  FROM unnest(tenants, feeds) WITH ORDINALITY AS given (tenant, feed, n)
  JOIN feed f ON f.tenant = given.tenant AND f.feed = given.feed
  UNION ALL
  SELECT 'id', given.n, given.id, e.position, e.content_hash, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL
  FROM unnest(id_feeds, ids) AS given (n, id)
  JOIN event_id e ON e.tenant = tenants[given.n] AND e.feed = feeds[given.n] AND e.id = given.id
  UNION ALL
  SELECT 'subject', given.n, given.subject, s.position, s.payload_hash, s.published, s.category, s.branch, s.code, NULL,
    NULL, NULL, NULL, s.spelling, s.update_date_hash, s.kept_code
  FROM unnest(subject_feeds, subjects) AS given (n, subject)
  JOIN subject s ON s.tenant = tenants[given.n] AND s.feed = feeds[given.n] AND s.subject = given.subject
$$;
