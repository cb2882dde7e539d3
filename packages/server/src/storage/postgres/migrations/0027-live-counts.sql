-- How many subjects of a feed are there, in its counter. The columns are noted in the catalogue alone: `feed` is locked for a
-- moment, whatever its size. A feed that was there before is counted afterwards, beside nodes that publish; until then its
-- `live_count` says by how much it has changed since this step, and `live_counted` that this is not all.
ALTER TABLE feed ADD COLUMN live_count bigint NOT NULL DEFAULT 0, -- subjects that are `published`
  ADD COLUMN live_counted boolean NOT NULL DEFAULT false;
-- Feeds that are made from now on are empty, and so they are counted, also those that a node of the version before makes.
ALTER TABLE feed ALTER COLUMN live_counted SET DEFAULT true;

-- Counts so many feeds that were not counted yet, and returns how many it did. The subjects and the change since the step
-- are read in one state, without a lock (2 s for a million); then each counter is locked for a moment, in key order, as publishers lock them.
CREATE FUNCTION count_live_subjects(most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  todo record;
BEGIN
  SELECT array_agg(f.tenant ORDER BY f.tenant, f.feed) AS tenants, array_agg(f.feed ORDER BY f.tenant, f.feed) AS feeds,
    array_agg(counted.n - f.live_count ORDER BY f.tenant, f.feed) AS missing
  INTO todo
  FROM (SELECT tenant, feed, live_count FROM feed WHERE NOT live_counted ORDER BY tenant, feed LIMIT most) AS f
  CROSS JOIN LATERAL (
    SELECT count(*) AS n FROM subject s WHERE s.tenant = f.tenant AND s.feed = f.feed AND s.published
  ) AS counted;
  FOR i IN 1 .. coalesce(cardinality(todo.tenants), 0) LOOP
    UPDATE feed SET live_count = live_count + todo.missing[i], live_counted = true
    WHERE tenant = todo.tenants[i] AND feed = todo.feeds[i] AND NOT live_counted;
  END LOOP;
  RETURN coalesce(cardinality(todo.tenants), 0);
END $$;

-- The functions as they were, but they count the subjects that appear and go. A node of the version before calls them as well, so
-- that nothing is missed while nodes are upgraded one by one.

CREATE OR REPLACE FUNCTION append_events_2(
  tenants uuid[], feeds smallint[], revisions bigint[], behind boolean[], row_counts integer[], json_before text[],
  json_after text,
  free_feeds integer[], free_ids uuid[],
  known_feeds integer[], known_subjects uuid[], known_positions bigint[],
  row_feeds integer[], row_nths integer[], row_ids uuid[], row_subjects uuid[], row_categories text[],
  row_branches text[], row_codes text[], row_published boolean[], row_latest boolean[], row_content_hashes text[],
  row_payload_hashes text[], row_spellings text[], row_update_date_hashes text[], row_wishes bigint[],
  row_first_stamps integer[], row_view_nths integer[], row_json text[],
  view_feeds integer[], view_names text[], view_counts integer[],
  reserved_feeds integer[], reserved_ids uuid[], reserved_hashes text[], reserved_positions bigint[],
  given_now bigint, given_floor bigint, tolerance bigint
) RETURNS TABLE (status text, positions bigint[], offsets bigint[], created bigint[]) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  counter record;
  state store;
  last_times bigint[] := '{}';
  floors bigint[] := '{}';
  appeared bigint[];
  moment bigint;
  earliest bigint;
BEGIN
  status := 'stale';
  positions := '{}';
  offsets := '{}';
  FOR i IN 1 .. cardinality(tenants) LOOP
    SELECT f.last_position, f.number_offset, f.revision, f.last_created, f.needs_epoch, f.move, f.stamp_floor
      INTO counter FROM feed f
      WHERE f.tenant = tenants[i] AND f.feed = feeds[i] FOR NO KEY UPDATE;
    IF NOT FOUND OR counter.revision <> revisions[i] OR counter.needs_epoch OR counter.move IS NOT NULL THEN RETURN NEXT; RETURN; END IF;
    positions := positions || counter.last_position;
    offsets := offsets || counter.number_offset;
    last_times := last_times || counter.last_created;
    floors := floors || counter.stamp_floor;
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
    SELECT nth + greatest(last_times[n], wish, greatest(earliest, floors[n]) - first_stamp)
    FROM unnest(row_feeds, row_nths, row_wishes, row_first_stamps) WITH ORDINALITY AS r (n, nth, wish, first_stamp, i)
    ORDER BY i
  );

  -- Of each feed: how many more subjects are there after this than before.
  appeared := ARRAY(
    SELECT coalesce(sum(r.published::integer - coalesce(s.published, false)::integer), 0)
    FROM generate_series(1, cardinality(tenants)) AS each (n)
    LEFT JOIN unnest(row_feeds, row_subjects, row_published, row_latest) AS r (n, subject, published, latest)
      ON r.n = each.n AND r.latest
    LEFT JOIN subject s ON s.tenant = tenants[r.n] AND s.feed = feeds[r.n] AND s.subject = r.subject
    GROUP BY each.n ORDER BY each.n
  );

  INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, branch, code, json)
  SELECT tenants[n], feeds[n], positions[n] + nth, offsets[n] + positions[n] + nth, r.created, id, subject, category,
    branch, code, json_before[n] || (offsets[n] + positions[n] + nth) || json || created_text(r.created) || json_after
  FROM unnest(row_feeds, row_nths, created, row_ids, row_subjects, row_categories, row_branches, row_codes, row_json)
    AS r (n, nth, created, id, subject, category, branch, code, json);

  INSERT INTO event_id (tenant, feed, id, position, content_hash, skipped)
  SELECT tenants[n], feeds[n], id, positions[n] + nth, decode(hash, 'hex'), NULL
  FROM unnest(row_feeds, row_nths, row_ids, row_content_hashes) AS r (n, nth, id, hash)
  UNION ALL
  -- A position below 1 names a row of this call.
  SELECT tenants[n], feeds[n], id, CASE WHEN place < 1 THEN positions[n] - place ELSE place END, decode(hash, 'hex'),
    moment
  FROM unnest(reserved_feeds, reserved_ids, reserved_hashes, reserved_positions) AS r (n, id, hash, place);

  INSERT INTO subject (tenant, feed, subject, position, published, category, branch, code, payload_hash, spelling,
    update_date_hash)
  SELECT tenants[n], feeds[n], subject, positions[n] + nth, published, category, branch, code, decode(hash, 'hex'),
    spelling, decode(date_hash, 'hex')
  FROM unnest(row_feeds, row_nths, row_subjects, row_published, row_categories, row_branches, row_codes,
    row_payload_hashes, row_spellings, row_update_date_hashes, row_latest)
    AS r (n, nth, subject, published, category, branch, code, hash, spelling, date_hash, latest)
  WHERE latest
  ON CONFLICT (tenant, feed, subject) DO UPDATE SET position = excluded.position, published = excluded.published,
    category = excluded.category, branch = excluded.branch, code = excluded.code,
    payload_hash = excluded.payload_hash, spelling = excluded.spelling, update_date_hash = excluded.update_date_hash;

  INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
  SELECT v.tenant, v.feed, v.view, v.last_ordinal + view_nth, positions[n] + nth, r.created
  FROM unnest(row_feeds, row_nths, created, row_categories, row_view_nths) AS r (n, nth, created, category, view_nth)
  JOIN view v ON v.tenant = tenants[n] AND v.feed = feeds[n] AND v.view = category;
  UPDATE view v SET last_ordinal = v.last_ordinal + c.count
  FROM unnest(view_feeds, view_names, view_counts) AS c (n, name, count)
  WHERE v.tenant = tenants[c.n] AND v.feed = feeds[c.n] AND v.view = c.name;

  UPDATE feed f SET last_position = f.last_position + last.nth, last_sequence = f.number_offset + f.last_position + last.nth,
    last_created = last.created, live_count = f.live_count + appeared[last.n]
  FROM (
    SELECT n, nth, r.created FROM unnest(row_feeds, row_nths, created) AS r (n, nth, created) WHERE nth = row_counts[n]
  ) AS last
  WHERE f.tenant = tenants[last.n] AND f.feed = feeds[last.n];

  status := 'appended';
  RETURN NEXT;
END $$;

CREATE OR REPLACE FUNCTION append_event_2(
  of_tenant uuid, of_feed smallint, of_revision bigint, was_behind boolean,
  new_id uuid, of_subject uuid, known_position bigint,
  new_category text, new_branch text, new_code text, new_published boolean,
  new_content_hash bytea, new_payload_hash bytea, new_spelling text, new_update_date_hash bytea,
  wish bigint,
  json_before text, json_piece text, json_after text,
  given_now bigint, given_floor bigint, tolerance bigint,
  OUT status text, OUT positions bigint[], OUT offsets bigint[], OUT created bigint[]
) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  counter record;
  state record;
  place bigint;
  number bigint;
  moment bigint;
BEGIN
  status := 'stale';
  positions := '{}';
  offsets := '{}';
  SELECT f.last_position, f.number_offset, f.revision, f.last_created, f.needs_epoch, f.move, f.stamp_floor
    INTO counter FROM feed f
    WHERE f.tenant = of_tenant AND f.feed = of_feed FOR NO KEY UPDATE;
  IF NOT FOUND OR counter.revision <> of_revision OR counter.needs_epoch OR counter.move IS NOT NULL THEN RETURN; END IF;

  -- A new statement, so it sees what was committed before the counter was taken, and reads the clock after that.
  SELECT s.needs_epoch, s.replicated,
    right(s.incarnation, 8) <> timeline() AS other_timeline,
    commits_are_replicated() AS replicates, coalesce(given_now, now_ticks()) AS moment, (SELECT last_value FROM window_floor) AS floor,
    (SELECT true FROM event_id e WHERE e.tenant = of_tenant AND e.feed = of_feed AND e.id = new_id) AS taken,
    u.position AS place, coalesce(u.published, false) AS was_there
  INTO state FROM store s
    LEFT JOIN subject u ON u.tenant = of_tenant AND u.feed = of_feed AND u.subject = of_subject;
  IF state.needs_epoch THEN status := 'epochRequired'; RETURN; END IF;
  IF state.other_timeline THEN status := 'unvouched'; RETURN; END IF;
  IF was_behind <> coalesce(counter.last_created - state.moment > tolerance, false) OR state.taken
    OR coalesce(state.place, 0) <> known_position THEN RETURN; END IF;
  IF state.replicated <> state.replicates THEN UPDATE store SET replicated = state.replicates; END IF;

  place := counter.last_position + 1;
  number := counter.number_offset + place;
  moment := greatest(counter.last_created + 1, coalesce(wish, greatest(state.moment, given_floor, state.floor, counter.stamp_floor)));
  INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, branch, code, json)
  VALUES (of_tenant, of_feed, place, number, moment, new_id, of_subject, new_category, new_branch, new_code,
    json_before || number || json_piece || created_text(moment) || json_after);
  INSERT INTO event_id (tenant, feed, id, position, content_hash)
  VALUES (of_tenant, of_feed, new_id, place, new_content_hash);
  INSERT INTO subject (tenant, feed, subject, position, published, category, branch, code, payload_hash, spelling,
    update_date_hash)
  VALUES (of_tenant, of_feed, of_subject, place, new_published, new_category, new_branch, new_code, new_payload_hash,
    new_spelling, new_update_date_hash)
  ON CONFLICT (tenant, feed, subject) DO UPDATE SET position = excluded.position, published = excluded.published,
    category = excluded.category, branch = excluded.branch, code = excluded.code,
    payload_hash = excluded.payload_hash, spelling = excluded.spelling, update_date_hash = excluded.update_date_hash;
  IF new_category IS NOT NULL THEN
    WITH counted AS (
      UPDATE view v SET last_ordinal = v.last_ordinal + 1
      WHERE v.tenant = of_tenant AND v.feed = of_feed AND v.view = new_category
      RETURNING v.last_ordinal
    )
    INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
    SELECT of_tenant, of_feed, new_category, last_ordinal, place, moment FROM counted;
  END IF;
  UPDATE feed f SET last_position = place, last_sequence = number, last_created = moment,
    live_count = f.live_count + new_published::integer - state.was_there::integer
  WHERE f.tenant = of_tenant AND f.feed = of_feed;

  status := 'appended';
  positions := ARRAY[counter.last_position];
  offsets := ARRAY[counter.number_offset];
  created := ARRAY[moment];
END $$;
