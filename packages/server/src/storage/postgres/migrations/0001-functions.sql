-- What must happen in one call, because no round trip may happen while a feed's counter is held. Rules about events are
-- not here: they are decided before (docs/decisions/0002), and these functions check that nothing has changed since.
-- A later version gets a new name, so that nodes of both versions can run side by side.

-- Ticks now.
CREATE FUNCTION now_ticks() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 10000000)::bigint $$;

-- The 27-character text of a tick.
CREATE FUNCTION created_text(ticks bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT to_char(
     timestamp '1970-01-01' + ((ticks - ((ticks % 10) + 10) % 10) / 10) * interval '1 microsecond',
     'YYYY-MM-DD"T"HH24:MI:SS.US') || ((ticks % 10) + 10) % 10 $$;

-- The timeline of what is written now: another one after a restore or a promotion.
CREATE FUNCTION timeline() RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) $$;

-- Which history this is: the cluster's system identifier and timeline.
CREATE FUNCTION incarnation() RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT system_identifier || '/' || timeline() FROM pg_control_system() $$;

-- Whether a commit waits until a standby has it on disk.
CREATE FUNCTION commits_are_replicated() RETURNS boolean LANGUAGE sql VOLATILE AS
$$ SELECT current_setting('synchronous_standby_names') <> ''
     AND current_setting('synchronous_commit') IN ('on', 'remote_apply') $$;

-- Takes the counters of feeds, in the order given: everybody gives them in key order. An UPDATE and not FOR UPDATE,
-- because that leaves a mark in the row which a read could not tell from a commit under way (see settle_feed).
CREATE FUNCTION lock_feeds(tenants uuid[], feeds smallint[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  FOR i IN 1 .. cardinality(tenants) LOOP
    UPDATE feed SET last_position = last_position WHERE tenant = tenants[i] AND feed.feed = feeds[i];
  END LOOP;
END $$;

-- Everything an append needs to know beforehand, in one answer: rows of kind 'store', 'feed', 'id', 'subject'.
CREATE FUNCTION look_up(tenants uuid[], feeds smallint[], id_feeds integer[], ids uuid[], subject_feeds integer[], subjects uuid[])
RETURNS TABLE (kind text, feed_no integer, key uuid, "position" bigint, hash bytea, published boolean, category text,
  branch text, code text, number_offset bigint, revision bigint, created bigint, sequence bigint)
LANGUAGE sql STABLE AS $$
  SELECT 'store', NULL::integer, NULL::uuid, NULL::bigint, NULL::bytea, needs_epoch, NULL, NULL, NULL, NULL::bigint,
    NULL::bigint, now_ticks(), (SELECT last_value FROM window_floor)
  FROM store
  UNION ALL
  SELECT 'feed', given.n::integer, NULL, f.last_position, NULL, NULL, NULL, NULL, NULL, f.number_offset, f.revision,
    f.last_created, f.last_sequence
  FROM unnest(tenants, feeds) WITH ORDINALITY AS given (tenant, feed, n)
  JOIN feed f ON f.tenant = given.tenant AND f.feed = given.feed
  UNION ALL
  SELECT 'id', given.n, given.id, e.position, e.content_hash, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM unnest(id_feeds, ids) AS given (n, id)
  JOIN event_id e ON e.tenant = tenants[given.n] AND e.feed = feeds[given.n] AND e.id = given.id
  UNION ALL
  SELECT 'subject', given.n, given.subject, s.position, s.payload_hash, s.published, s.category, s.branch, s.code, NULL,
    NULL, NULL, NULL
  FROM unnest(subject_feeds, subjects) AS given (n, subject)
  JOIN subject s ON s.tenant = tenants[given.n] AND s.feed = feeds[given.n] AND s.subject = given.subject
$$;

-- Appends what was planned, if all the plan was made from is still so. Lists of one length describe feeds (tenants …),
-- rows (row_feeds …), and so on; numbers of feeds and rows count from 1.
--   status 'appended', 'stale' (plan again), 'epochRequired', 'unvouched' (the cluster's history has changed)
--   positions, offsets: of each feed before the call; created: of each row
CREATE FUNCTION append_events(
  tenants uuid[], feeds smallint[], revisions bigint[], behind boolean[], row_counts integer[], json_before text[],
  json_after text,
  free_feeds integer[], free_ids uuid[],
  known_feeds integer[], known_subjects uuid[], known_positions bigint[],
  row_feeds integer[], row_nths integer[], row_ids uuid[], row_subjects uuid[], row_categories text[],
  row_branches text[], row_codes text[], row_published boolean[], row_latest boolean[], row_content_hashes text[],
  row_payload_hashes text[], row_wishes bigint[], row_first_stamps integer[], row_view_nths integer[], row_json text[],
  view_feeds integer[], view_names text[], view_counts integer[],
  reserved_feeds integer[], reserved_ids uuid[], reserved_hashes text[], reserved_positions bigint[],
  given_now bigint, given_floor bigint, tolerance bigint
) RETURNS TABLE (status text, positions bigint[], offsets bigint[], created bigint[]) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  counter record;
  state store;
  last_times bigint[] := '{}';
  moment bigint;
  earliest bigint;
BEGIN
  status := 'stale';
  positions := '{}';
  offsets := '{}';
  FOR i IN 1 .. cardinality(tenants) LOOP
    UPDATE feed f SET last_position = f.last_position WHERE f.tenant = tenants[i] AND f.feed = feeds[i]
      RETURNING f.last_position, f.number_offset, f.revision, f.last_created INTO counter;
    IF NOT FOUND OR counter.revision <> revisions[i] THEN RETURN NEXT; RETURN; END IF;
    positions := positions || counter.last_position;
    offsets := offsets || counter.number_offset;
    last_times := last_times || counter.last_created;
  END LOOP;

  -- Every statement from here on sees what was committed before the counters were taken, and nobody commits to these
  -- feeds any more. The time is read here as well, so that it rises with the numbers.
  SELECT * INTO state FROM store;
  IF state.needs_epoch THEN status := 'epochRequired'; RETURN NEXT; RETURN; END IF;
  -- The system identifier is compared when a connection is made; reading it costs a file access.
  IF right(state.incarnation, 8) <> timeline() THEN status := 'unvouched'; RETURN NEXT; RETURN; END IF;
  moment := coalesce(given_now, now_ticks());
  FOR i IN 1 .. cardinality(tenants) LOOP
    IF behind[i] <> coalesce(last_times[i] - moment > tolerance, false) THEN RETURN NEXT; RETURN; END IF;
  END LOOP;
  IF EXISTS (
    SELECT FROM unnest(free_feeds, free_ids) AS given (n, id)
    JOIN event_id e ON e.tenant = tenants[given.n] AND e.feed = feeds[given.n] AND e.id = given.id
  ) OR EXISTS (
    SELECT FROM unnest(known_feeds, known_subjects, known_positions) AS given (n, subject, position)
    LEFT JOIN subject s ON s.tenant = tenants[given.n] AND s.feed = feeds[given.n] AND s.subject = given.subject
    WHERE coalesce(s.position, 0) <> given.position
  ) THEN RETURN NEXT; RETURN; END IF;
  IF state.replicated <> commits_are_replicated() THEN
    UPDATE store SET replicated = commits_are_replicated();
  END IF;

  -- The nth row of a feed is stamped with its wish or with this moment, and lies at least a tick behind the row before
  -- it: the greatest of what any row up to it asked for, each counted on by one tick for every row in between.
  earliest := greatest(moment, given_floor, (SELECT last_value FROM window_floor));
  created := ARRAY(
    SELECT nth + greatest(last_times[n], wish, earliest - first_stamp)
    FROM unnest(row_feeds, row_nths, row_wishes, row_first_stamps) WITH ORDINALITY AS r (n, nth, wish, first_stamp, i)
    ORDER BY i
  );

  INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, branch, code, json)
  SELECT tenants[n], feeds[n], positions[n] + nth, offsets[n] + positions[n] + nth, r.created, id, subject, category,
    branch, code, json_before[n] || (offsets[n] + positions[n] + nth) || json || created_text(r.created) || json_after
  FROM unnest(row_feeds, row_nths, created, row_ids, row_subjects, row_categories, row_branches, row_codes, row_json)
    AS r (n, nth, created, id, subject, category, branch, code, json);

  INSERT INTO event_id (tenant, feed, id, position, content_hash)
  SELECT tenants[n], feeds[n], id, positions[n] + nth, decode(hash, 'hex')
  FROM unnest(row_feeds, row_nths, row_ids, row_content_hashes) AS r (n, nth, id, hash)
  UNION ALL
  -- A position below 1 names a row of this call.
  SELECT tenants[n], feeds[n], id, CASE WHEN place < 1 THEN positions[n] - place ELSE place END, decode(hash, 'hex')
  FROM unnest(reserved_feeds, reserved_ids, reserved_hashes, reserved_positions) AS r (n, id, hash, place);

  INSERT INTO subject (tenant, feed, subject, position, published, category, branch, code, payload_hash)
  SELECT tenants[n], feeds[n], subject, positions[n] + nth, published, category, branch, code, decode(hash, 'hex')
  FROM unnest(row_feeds, row_nths, row_subjects, row_published, row_categories, row_branches, row_codes,
    row_payload_hashes, row_latest) AS r (n, nth, subject, published, category, branch, code, hash, latest)
  WHERE latest
  ON CONFLICT (tenant, feed, subject) DO UPDATE SET position = excluded.position, published = excluded.published,
    category = excluded.category, branch = excluded.branch, code = excluded.code,
    payload_hash = excluded.payload_hash;

  INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
  SELECT v.tenant, v.feed, v.view, v.last_ordinal + view_nth, positions[n] + nth, r.created
  FROM unnest(row_feeds, row_nths, created, row_categories, row_view_nths) AS r (n, nth, created, category, view_nth)
  JOIN view v ON v.tenant = tenants[n] AND v.feed = feeds[n] AND v.view = category;
  UPDATE view v SET last_ordinal = v.last_ordinal + c.count
  FROM unnest(view_feeds, view_names, view_counts) AS c (n, name, count)
  WHERE v.tenant = tenants[c.n] AND v.feed = feeds[c.n] AND v.view = c.name;

  UPDATE feed f SET last_position = f.last_position + last.nth, last_sequence = f.number_offset + f.last_position + last.nth,
    last_created = last.created
  FROM (
    SELECT n, nth, r.created FROM unnest(row_feeds, row_nths, created) AS r (n, nth, created) WHERE nth = row_counts[n]
  ) AS last
  WHERE f.tenant = tenants[last.n] AND f.feed = feeds[last.n];

  status := 'appended';
  RETURN NEXT;
END $$;

-- Waits until no event of the feed that is stamped already still waits for its commit, and sees to it that all later
-- stamps lie behind this moment. What is read in a later statement then misses nothing stamped before.
CREATE FUNCTION settle_feed(of_tenant uuid, of_feed smallint, given_floor bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  -- The clock counts whole microseconds, and a client may note its time of asking more finely.
  until bigint := coalesce(given_floor, now_ticks() + 10);
  held boolean;
BEGIN
  -- First the floor: whoever takes the counter after it has been looked at below finds it.
  IF until > (SELECT last_value FROM window_floor) THEN PERFORM setval('window_floor', until); END IF;
  -- A row whose last version nobody has changed or locked since is not held: no lock, no write, for idle feeds.
  SELECT f.xmax <> '0'::xid INTO held FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed;
  IF held THEN
    -- A row lock is written down; nobody needs it after a crash.
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed FOR SHARE;
  END IF;
END $$;

-- The last position of a feed whose sequence number is not greater. In the epoch of now a subtraction, else a search.
CREATE FUNCTION position_at(of_tenant uuid, of_feed smallint, number bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  low bigint := 0;
  high bigint;
  middle bigint;
  guess bigint;
BEGIN
  SELECT f.last_position, number - f.number_offset INTO high, guess FROM feed f
  WHERE f.tenant = of_tenant AND f.feed = of_feed;
  IF guess >= high THEN RETURN high; END IF;
  PERFORM FROM event e WHERE e.tenant = of_tenant AND e.feed = of_feed AND e.position = guess AND e.sequence = number;
  IF FOUND THEN RETURN guess; END IF;
  WHILE low < high LOOP
    middle := (low + high + 1) / 2;
    PERFORM FROM event e
      WHERE e.tenant = of_tenant AND e.feed = of_feed AND e.position = middle AND e.sequence <= number;
    IF FOUND THEN low := middle; ELSE high := middle - 1; END IF;
  END LOOP;
  RETURN low;
END $$;
