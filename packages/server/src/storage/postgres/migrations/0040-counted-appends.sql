-- Appends with fewer statements. The counters are taken in one, not in one for each feed. And by how much each feed's live
-- subjects change comes with the call (`appeared`): the node knows it from the states that `known_positions` vouches for, and does
-- not have to have every subject looked up once more. Nodes of the version before call `append_events_2` until they are upgraded.

CREATE FUNCTION append_events_3(
  tenants uuid[], feeds smallint[], revisions bigint[], behind boolean[], row_counts integer[], appeared integer[],
  json_before text[], json_after text,
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
  state store;
  last_times bigint[];
  floors bigint[];
  is_stale boolean;
  moment bigint;
  earliest bigint;
BEGIN
  status := 'stale';
  -- In the order in which the feeds were sent, which is that of their keys, so that no two calls wait for each other.
  SELECT array_agg(f.last_position ORDER BY i), array_agg(f.number_offset ORDER BY i), array_agg(f.last_created ORDER BY i),
    array_agg(f.stamp_floor ORDER BY i), bool_or(f.revision <> given.revision OR f.needs_epoch OR f.move IS NOT NULL)
  INTO positions, offsets, last_times, floors, is_stale
  FROM unnest(tenants, feeds, revisions) WITH ORDINALITY AS given (tenant, feed, revision, i)
  CROSS JOIN LATERAL (
    SELECT * FROM feed WHERE feed.tenant = given.tenant AND feed.feed = given.feed FOR NO KEY UPDATE
  ) AS f;
  IF cardinality(positions) IS DISTINCT FROM cardinality(tenants) OR is_stale THEN RETURN NEXT; RETURN; END IF;

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
