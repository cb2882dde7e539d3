-- The functions and triggers of a store in PostgreSQL, in the order of the tables: what must happen in one call, because no round trip may
-- happen while a feed's counter is held. Rules about events are not here: they are decided before (docs/decisions/0002), and these
-- functions check that nothing has changed since. A later version of a function gets a new name where its arguments or its answer change,
-- so that nodes of both versions can run side by side.

-- ── The store ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- For new relations: whoever may change the counters of feeds is a node, and gets these rights and no others (node-rights.ts), whatever
-- the owner's default privileges gave.
CREATE FUNCTION share_with_nodes(relation regclass, privileges text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  node text;
BEGIN
  FOR node IN
    SELECT DISTINCT CASE granted.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(granted.grantee)) END
    FROM pg_class c, aclexplode(c.relacl) AS granted
    WHERE c.oid = 'feed'::regclass AND granted.grantee <> c.relowner AND granted.privilege_type = 'UPDATE'
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', relation, node);
    EXECUTE format('GRANT %s ON %s TO %s', privileges, relation, node);
  END LOOP;
END $$;

-- The timeline of what is written now: another one after a restore or a promotion.
CREATE FUNCTION timeline() RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) $$;

-- The cluster, the database and the table of the store. A dump that is restored beside the first database, or into another schema of it,
-- is in the same cluster and timeline, and would give the same numbers to other events.
CREATE FUNCTION store_place() RETURNS text LANGUAGE sql STABLE AS
$$ SELECT system_identifier || '.' || (SELECT oid FROM pg_database WHERE datname = current_database()) || '.' || 'store'::regclass::oid
   FROM pg_control_system() $$;

-- Which history this is.
CREATE FUNCTION incarnation() RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT store_place() || '/' || timeline() $$;

-- Whether a commit waits until a standby has it on disk.
CREATE FUNCTION commits_are_replicated() RETURNS boolean LANGUAGE sql VOLATILE AS
$$ SELECT current_setting('synchronous_standby_names') <> ''
     AND current_setting('synchronous_commit') IN ('on', 'remote_apply') $$;

-- ── Tenants: deleting one with all it owns ─────────────────────────────────────────────────────────────────────────────────

-- Each of these with the rights of its owner, because nodes may delete no event, key or receipt: they delete none but of a tenant whose
-- deletion is on record, and has been exported.

-- The subjects of a feed's events between two positions. Answers how many.
CREATE FUNCTION delete_subjects(of_deletion uuid, of_feed smallint, after bigint, through bigint) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
  WITH gone AS (
    DELETE FROM subject s USING tenant_deletion d
    WHERE d.deletion = of_deletion AND d.state = 'deleting' AND s.tenant = d.tenant AND s.feed = of_feed AND s.subject = ANY (ARRAY(
      SELECT e.subject FROM event e
      WHERE e.tenant = (SELECT t.tenant FROM tenant_deletion t WHERE t.deletion = of_deletion) AND e.feed = of_feed
        AND e.position > after AND e.position <= through
    ))
    RETURNING 1
  )
  SELECT count(*) FROM gone
$$;

CREATE FUNCTION delete_events(of_deletion uuid, of_feed smallint, after bigint, through bigint) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER AS $$
  DELETE FROM event e USING tenant_deletion d
  WHERE d.deletion = of_deletion AND d.state = 'deleting' AND e.tenant = d.tenant AND e.feed = of_feed
    AND e.position > after AND e.position <= through
$$;

-- At most so many rows of a table that says of its rows whose they are, or of which erasure. Answers how many.
CREATE FUNCTION delete_owned(of_deletion uuid, owned text, at_most bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
  d tenant_deletion;
  id_type text;
  of_endpoint boolean;
  removed bigint;
BEGIN
  SELECT * INTO STRICT d FROM tenant_deletion t WHERE t.deletion = of_deletion AND t.state IN ('deleting', 'forgetting');
  IF owned IN ('audit', 'tenant_deletion') OR (owned IN ('view', 'leaving_tenant', 'feed', 'tenant') AND d.state <> 'forgetting') THEN
    RAISE EXCEPTION 'rows of % are not removed', owned;
  END IF;
  SELECT format_type(a.atttypid, NULL) INTO id_type FROM pg_attribute a
  WHERE a.attrelid = to_regclass(quote_ident(owned)) AND a.attname = 'tenant' AND NOT a.attisdropped;
  of_endpoint := EXISTS (SELECT FROM pg_attribute a
    WHERE a.attrelid = to_regclass(quote_ident(owned)) AND a.attname = 'endpoint_no' AND NOT a.attisdropped);
  EXECUTE format('DELETE FROM %I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %I WHERE %s LIMIT $2))', owned, owned, CASE
    WHEN id_type IS NOT NULL THEN format('tenant = $1::%s', id_type)
    WHEN of_endpoint THEN 'endpoint_no IN (SELECT w.endpoint_no FROM webhook w WHERE w.tenant = $1)'
    ELSE 'erasure IN (SELECT e.erasure FROM erasure e WHERE e.tenant = $1)' END)
    USING d.tenant, at_most;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;

-- The keys that open no other tenant, with their grants.
CREATE FUNCTION delete_owned_keys(of_deletion uuid, at_most bigint) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
  d tenant_deletion;
  numbers bigint[];
BEGIN
  SELECT * INTO STRICT d FROM tenant_deletion t WHERE t.deletion = of_deletion AND t.state IN ('deleting', 'forgetting');
  numbers := ARRAY(
    SELECT k.key_no FROM key k
    WHERE k.key_no IN (
      SELECT g.key_no FROM key_grant g
      WHERE g.tenant = d.tenant AND NOT EXISTS (SELECT FROM key_grant o WHERE o.key_no = g.key_no AND o.tenant <> d.tenant)
      ORDER BY g.key_no LIMIT at_most
    )
    ORDER BY k.key_no FOR UPDATE
  );
  -- One of them may have been granted more before it was locked.
  RETURN QUERY
    DELETE FROM key k
    WHERE k.key_no = ANY (numbers) AND NOT EXISTS (SELECT FROM key_grant o WHERE o.key_no = k.key_no AND o.tenant <> d.tenant)
    RETURNING k.key_id;
END $$;

DO $$
DECLARE
  signature text;
BEGIN
  FOREACH signature IN ARRAY ARRAY['delete_subjects(uuid, smallint, bigint, bigint)', 'delete_events(uuid, smallint, bigint, bigint)',
    'delete_owned(uuid, text, bigint)', 'delete_owned_keys(uuid, bigint)']
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', signature, current_schema());
  END LOOP;
END $$;

-- ── Events: times ──────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Ticks now.
CREATE FUNCTION now_ticks() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 10000000)::bigint $$;

-- The 27-character text of a tick. Declared as what it is made of, so that it becomes a part of the statement that calls it.
CREATE FUNCTION created_text(ticks bigint) RETURNS text LANGUAGE sql STABLE AS
$$ SELECT to_char(
     timestamp '1970-01-01' + ((ticks - ((ticks % 10) + 10) % 10) / 10) * interval '1 microsecond',
     'YYYY-MM-DD"T"HH24:MI:SS.US') || ((ticks % 10) + 10) % 10 $$;

-- The least stamp from now on.
CREATE FUNCTION stamp_floor() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  answered bigint;
BEGIN
  SELECT last_value INTO answered FROM answered_until;
  IF answered > 0 THEN RETURN answered; END IF;
  RETURN coalesce((SELECT until FROM time_reservation), 0);
END $$;

-- Every later stamp lies at or after `wanted`. One call at a time, because a sequence cannot be raised in one step and a
-- slower call would put it back; the lock is given back at once, not at the end of the transaction. In few statements, because
-- each poll by time calls it: what stands in one is evaluated from left to right.
CREATE FUNCTION raise_floor(wanted bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  answered bigint;
BEGIN
  SELECT last_value INTO answered FROM answered_until;
  -- One that cannot be read counts as lost until it is made anew.
  IF NOT FOUND OR answered >= wanted THEN RETURN; END IF;
  PERFORM pg_advisory_lock(1346721364, 'time_reservation'::regclass::oid::integer),
    setval('answered_until', greatest(wanted, (SELECT last_value FROM answered_until),
      CASE answered WHEN 0 THEN stamp_floor() END)),
    pg_advisory_unlock(1346721364, 'time_reservation'::regclass::oid::integer);
END $$;

-- A standby that is promoted soon after an unlogged sequence was made may have nothing but zeros in its place, which is
-- no row to whoever reads it and an error to whoever writes it (seen with 18.4). Then it is made anew, by whichever
-- node comes first, with the rights of the schema's owner.
CREATE FUNCTION mend_answered_until() RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1346721364, 'time_reservation'::regclass::oid::integer);
  IF EXISTS (SELECT FROM answered_until) THEN RETURN; END IF;
  DROP SEQUENCE answered_until;
  CREATE UNLOGGED SEQUENCE answered_until AS bigint MINVALUE 0 START 0;
  PERFORM share_with_nodes('answered_until', 'SELECT, UPDATE');
END $$;
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION mend_answered_until() SET search_path = %I, pg_temp', current_schema());
END $$;

-- Moves the reservation to 10 s from now, unless 5 s of it are left. It counts once this call's commit is answered: on
-- disk then, and on the standby where commits wait for one. It is so too where somebody else has moved it, because the
-- row is locked in any case, which is a commit of its own.
CREATE FUNCTION reserve_time(given_now bigint, OUT moment bigint, OUT reserved bigint) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  moment := coalesce(given_now, now_ticks());
  -- What was lost is put in place first, while the reservation is still what it was then.
  PERFORM raise_floor(1);
  INSERT INTO time_reservation AS held (until) VALUES (moment + 100000000)
    ON CONFLICT (only_row) DO UPDATE SET until = excluded.until WHERE held.until < moment + 50000000;
  reserved := (SELECT until FROM time_reservation);
END $$;

-- A moment at which no stamped event of the feed waits for its commit, and that all later stamps lie after: what is read
-- in a later statement misses nothing stamped before. It may be answered if it lies within what is reserved. It looks at the locks only
-- for a number that can be a running transaction's: a counter's row keeps the number of the transaction that wrote it last, and looking
-- for that among all locks took three times what the rest of a poll of an idle feed takes here.
CREATE FUNCTION settle_window(of_tenant uuid, of_feed smallint, given_floor bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  -- The clock counts whole microseconds, and a client may note its time of asking more finely.
  moment bigint := coalesce(given_floor, now_ticks() + 10);
  mark xid;
  state text;
BEGIN
  -- First the floor: whoever takes the counter after it has been looked at finds it.
  PERFORM raise_floor(moment);
  -- Whoever has taken the counter has put the number of its transaction there. No transaction that runs is older than the
  -- oldest of this statement's snapshot; both ages are counted from the same number.
  -- Where the tenant stands is read after the moment: whoever closes the feed for windows later knows a later moment.
  SELECT f.move, CASE WHEN f.xmax <> '0'::xid AND age(f.xmax) <= age(pg_snapshot_xmin(pg_current_snapshot())::xid)
    THEN f.xmax END INTO state, mark
  FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed;
  IF state <> 'leaving' THEN
    RAISE EXCEPTION 'the tenant is at home in another store' USING ERRCODE = 'PE001';
  END IF;
  -- It holds the lock of that number until its commit can be seen. (Polls that waited together leave a number of another
  -- kind; one that is somebody's by chance costs a wait.)
  IF mark IS NOT NULL AND EXISTS (
    SELECT FROM pg_locks l WHERE l.locktype = 'transactionid' AND l.transactionid = mark
  ) THEN
    -- A row lock is written down; nobody needs it after a crash.
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed FOR SHARE;
  END IF;
  RETURN moment;
END $$;

-- The same moment, and the counter as it is then: a later statement, which sees what the one before has waited for. No row: no such feed.
CREATE FUNCTION settled_head(of_tenant uuid, of_feed smallint, given_floor bigint)
RETURNS TABLE (moment bigint, epoch text, number_offset bigint, revision bigint, thinned bigint, last_position bigint,
  last_sequence bigint, last_created bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  settled bigint := settle_window(of_tenant, of_feed, given_floor);
BEGIN
  RETURN QUERY SELECT settled, f.epoch, f.number_offset, f.revision, f.thinned, f.last_position, f.last_sequence, f.last_created
    FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed;
END $$;

-- ── Events: appending ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- Takes the counters of feeds, in the order given: everybody gives them in key order. A lock and not an UPDATE: it leaves its
-- transaction's number in the row, too, and settle_window tells from that whether a commit is under way. No other lock than
-- these is taken on a counter, so it is never a number of the kind that stands for several. And the counter gets one new version with each
-- publication: a snapshot that is held for hours keeps them all, and whoever looks for the counter goes through them.
CREATE FUNCTION lock_feeds(tenants uuid[], feeds smallint[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  FOR i IN 1 .. cardinality(tenants) LOOP
    PERFORM FROM feed WHERE tenant = tenants[i] AND feed.feed = feeds[i] FOR NO KEY UPDATE;
  END LOOP;
END $$;

-- Everything an append needs to know beforehand, in one answer: rows of kind 'store', 'feed', 'id', 'subject'. The code of a feed is its
-- `move`.
CREATE FUNCTION look_up(tenants uuid[], feeds smallint[], id_feeds integer[], ids uuid[], subject_feeds integer[],
  subjects uuid[])
RETURNS TABLE (kind text, feed_no integer, key uuid, "position" bigint, hash bytea, published boolean, category text,
  branch text, code text, number_offset bigint, revision bigint, created bigint, sequence bigint, spelling text,
  update_date_hash bytea, kept_code text)
LANGUAGE sql STABLE AS $$
  SELECT 'store', NULL::integer, NULL::uuid, NULL::bigint, NULL::bytea, needs_epoch, NULL, NULL, NULL, NULL::bigint,
    NULL::bigint, now_ticks(), stamp_floor(), NULL, NULL::bytea, NULL
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

-- Appends what was planned, if all the plan was made from is still so. Lists of one length describe feeds (tenants …),
-- rows (row_feeds …), and so on; numbers of feeds and rows count from 1.
--   status 'appended', 'stale' (plan again), 'epochRequired', 'unvouched' (the cluster's history has changed)
--   positions, offsets: of each feed before the call; created: of each row
--   appeared: by how much each feed's live subjects change; the node knows it from the states that `known_positions` vouches for
CREATE FUNCTION append_events(
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
  given_now bigint, tolerance bigint
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
  earliest := greatest(moment, stamp_floor());
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

-- Appends one event: what `append_events` does, with the same checks in the same order and the same answer, for what is
-- by far the most frequent publication. Statements about single rows by key, without lists: they cost two thirds.
--   known_position: of the subject's latest event, 0 for none; wish: the time the event would like, NULL for the clock
CREATE FUNCTION append_event(
  of_tenant uuid, of_feed smallint, of_revision bigint, was_behind boolean,
  new_id uuid, of_subject uuid, known_position bigint,
  new_category text, new_branch text, new_code text, new_published boolean,
  new_content_hash bytea, new_payload_hash bytea, new_spelling text, new_update_date_hash bytea,
  wish bigint,
  json_before text, json_piece text, json_after text,
  given_now bigint, tolerance bigint,
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
    commits_are_replicated() AS replicates, coalesce(given_now, now_ticks()) AS moment, stamp_floor() AS floor,
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
  moment := greatest(counter.last_created + 1, coalesce(wish, greatest(state.moment, state.floor, counter.stamp_floor)));
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

-- ── Events: views of branches ──────────────────────────────────────────────────────────────────────────────────────────────

-- Enters the events after one position up to another in the views of sets of branches, and notes which of their subjects are where.
-- `of_set`: of that set alone, whatever its state; NULL: of all that are ready. The positions are those that follow on what is entered.
CREATE FUNCTION enter_branch_views(of_tenant uuid, of_feed smallint, after_position bigint, to_position bigint, of_set text)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  -- OFFSET 0: look-ups by key, in this order, whatever PostgreSQL takes the sizes of the tables for.
  WITH arrived AS MATERIALIZED (
    SELECT e.position, e.created, e.category, e.branch FROM event e
    WHERE e.tenant = of_tenant AND e.feed = of_feed AND e.position > after_position AND e.position <= to_position
  ), entered AS MATERIALIZED (
    SELECT a.position, a.created, 'branches.' || b.branch_set || '.' || part.name AS view,
      row_number() OVER (PARTITION BY b.branch_set, part.name ORDER BY a.position) AS nth
    FROM arrived a
    CROSS JOIN LATERAL (
      SELECT o.branch_set FROM branch_of_set o
      WHERE o.tenant = of_tenant AND o.feed = of_feed AND o.branch = a.branch
        AND CASE WHEN of_set IS NOT NULL THEN o.branch_set = of_set ELSE 'ready' = (
          SELECT s.state FROM branch_set s WHERE s.tenant = of_tenant AND s.feed = of_feed AND s.branch_set = o.branch_set) END
      OFFSET 0
    ) AS b
    CROSS JOIN LATERAL (VALUES ('all'), (a.category)) AS part (name)
    WHERE part.name IS NOT NULL
  ), counted AS (
    UPDATE view v SET last_ordinal = v.last_ordinal + c.n
    FROM (SELECT entered.view, count(*) AS n FROM entered GROUP BY entered.view) AS c
    WHERE v.tenant = of_tenant AND v.feed = of_feed AND v.view = c.view
  )
  INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
  SELECT of_tenant, of_feed, e.view, before.last_ordinal + e.nth, e.position, e.created
  FROM entered e
  CROSS JOIN LATERAL (
    SELECT v.last_ordinal FROM view v WHERE v.tenant = of_tenant AND v.feed = of_feed AND v.view = e.view OFFSET 0
  ) AS before;

  DELETE FROM branch_latest l
  WHERE l.tenant = of_tenant AND l.feed = of_feed AND l.subject = ANY (ARRAY(
      SELECT e.subject FROM event e
      WHERE e.tenant = of_tenant AND e.feed = of_feed AND e.position > after_position AND e.position <= to_position
    )) AND CASE WHEN of_set IS NOT NULL THEN l.branch_set = of_set ELSE 'ready' = (
      SELECT s.state FROM branch_set s WHERE s.tenant = of_tenant AND s.feed = of_feed AND s.branch_set = l.branch_set) END;

  INSERT INTO branch_latest (tenant, feed, subject, branch_set, category, position)
  SELECT of_tenant, of_feed, a.subject, b.branch_set, a.category, a.position
  FROM (
    SELECT DISTINCT ON (e.subject) e.subject, e.branch, e.category, e.position FROM event e
    WHERE e.tenant = of_tenant AND e.feed = of_feed AND e.position > after_position AND e.position <= to_position
    ORDER BY e.subject, e.position DESC
  ) AS a
  CROSS JOIN LATERAL (
    SELECT o.branch_set FROM branch_of_set o
    WHERE o.tenant = of_tenant AND o.feed = of_feed AND o.branch = a.branch
      AND CASE WHEN of_set IS NOT NULL THEN o.branch_set = of_set ELSE 'ready' = (
          SELECT s.state FROM branch_set s WHERE s.tenant = of_tenant AND s.feed = of_feed AND s.branch_set = o.branch_set) END
      OFFSET 0
  ) AS b;
END $$;

-- Wherever a counter moves on, by a publication, an erasure or an import: all insert the events first,
-- under the counter, and move it last. A feed without such views costs the flag alone, some 4 µs a commit. Comparing the
-- positions in the condition as well made it 12, because PostgreSQL reads the condition anew for each statement.
CREATE FUNCTION enter_what_came() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.last_position > old.last_position THEN
    PERFORM enter_branch_views(new.tenant, new.feed, old.last_position, new.last_position, NULL);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER feed_moved_on AFTER UPDATE OF last_position ON feed FOR EACH ROW
  WHEN (new.branch_views) EXECUTE FUNCTION enter_what_came();

-- Whether a key that can be used reads the properties of these branches alone.
CREATE FUNCTION branches_are_granted(of_tenant uuid, of_branches text, now_ms bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM key_grant g JOIN key k ON k.key_no = g.key_no
    WHERE g.tenant = of_tenant AND g.branches IS NOT NULL AND g.branches = of_branches AND g.scopes LIKE '%property:read%'
      AND k.revoked_ms IS NULL AND coalesce(k.expires_ms > now_ms, true)
  )
$$;

-- One step of filling or dropping a set's views, `most` events at once. Another session that is at it is not waited for. The counter is
-- taken by the step that makes the views ready, and by the one that ends them: last, and after the version of the keys has risen, so that
-- no publisher waits for somebody who changes keys.
--   'more'; 'busy': another session is at it; 'done': the views are ready, or gone
CREATE FUNCTION step_branch_set(of_tenant uuid, of_feed smallint, of_set text, most integer, given_ms bigint) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  now_ms bigint := coalesce(given_ms, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  s branch_set;
  last_place bigint;
BEGIN
  SELECT * INTO s FROM branch_set b
    WHERE b.tenant = of_tenant AND b.feed = of_feed AND b.branch_set = of_set FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 'busy'; END IF;
  IF s.state = 'dropping' THEN RETURN drop_from_branch_set(of_tenant, of_feed, of_set, s.branches, most, now_ms); END IF;
  IF NOT branches_are_granted(of_tenant, s.branches, now_ms) THEN
    UPDATE branch_set b SET state = 'dropping' WHERE b.tenant = of_tenant AND b.feed = of_feed AND b.branch_set = of_set;
    PERFORM FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed FOR NO KEY UPDATE;
    UPDATE feed f SET branch_views = false WHERE f.tenant = of_tenant AND f.feed = of_feed AND f.branch_views AND NOT EXISTS (
      SELECT FROM branch_set b WHERE b.tenant = of_tenant AND b.feed = of_feed AND b.state = 'ready');
    RETURN 'more';
  END IF;
  IF s.state = 'ready' THEN RETURN 'done'; END IF;
  SELECT f.last_position INTO last_place FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed;
  IF last_place - s.filled > most THEN
    PERFORM enter_branch_views(of_tenant, of_feed, s.filled, s.filled + most, of_set);
    UPDATE branch_set b SET filled = s.filled + most WHERE b.tenant = of_tenant AND b.feed = of_feed AND b.branch_set = of_set;
    RETURN 'more';
  END IF;
  UPDATE branch_set b SET state = 'ready' WHERE b.tenant = of_tenant AND b.feed = of_feed AND b.branch_set = of_set;
  SELECT f.last_position INTO last_place FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed FOR NO KEY UPDATE;
  -- So much was published while it waited for the counter: not all of it under the lock.
  IF last_place - s.filled > 2 * most THEN
    UPDATE branch_set b SET state = 'filling' WHERE b.tenant = of_tenant AND b.feed = of_feed AND b.branch_set = of_set;
    RETURN 'more';
  END IF;
  PERFORM enter_branch_views(of_tenant, of_feed, s.filled, last_place, of_set);
  UPDATE branch_set b SET filled = last_place WHERE b.tenant = of_tenant AND b.feed = of_feed AND b.branch_set = of_set;
  UPDATE feed f SET branch_views = true WHERE f.tenant = of_tenant AND f.feed = of_feed AND NOT f.branch_views;
  RETURN 'done';
END $$;

-- Whoever calls it has the set's row. From the end of each view, so that no step passes over what others have deleted.
CREATE FUNCTION drop_from_branch_set(of_tenant uuid, of_feed smallint, of_set text, of_branches text, most integer, now_ms bigint)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  names text[] := ARRAY['branches.' || of_set || '.all', 'branches.' || of_set || '.sales',
    'branches.' || of_set || '.lettings'];
  of_view text;
  last_one bigint;
  dropped integer;
BEGIN
  SELECT w.view, w.last_ordinal INTO of_view, last_one FROM view w
    WHERE w.tenant = of_tenant AND w.feed = of_feed AND w.view = ANY (names) AND w.last_ordinal > 0 LIMIT 1;
  IF FOUND THEN
    DELETE FROM view_entry e
      WHERE e.tenant = of_tenant AND e.feed = of_feed AND e.view = of_view AND e.ordinal > last_one - most;
    UPDATE view w SET last_ordinal = greatest(0, last_one - most)
      WHERE w.tenant = of_tenant AND w.feed = of_feed AND w.view = of_view;
    RETURN 'more';
  END IF;
  DELETE FROM branch_latest l
    WHERE l.tenant = of_tenant AND l.feed = of_feed AND l.branch_set = of_set AND l.subject = ANY (ARRAY(
      SELECT d.subject FROM branch_latest d
      WHERE d.tenant = of_tenant AND d.feed = of_feed AND d.branch_set = of_set AND d.position > 0 LIMIT most));
  GET DIAGNOSTICS dropped = ROW_COUNT;
  IF dropped > 0 THEN RETURN 'more'; END IF;
  -- A key was given the branches again meanwhile.
  IF branches_are_granted(of_tenant, of_branches, now_ms) THEN
    UPDATE branch_set b SET state = 'filling', filled = 0
      WHERE b.tenant = of_tenant AND b.feed = of_feed AND b.branch_set = of_set;
    RETURN 'more';
  END IF;
  DELETE FROM view w WHERE w.tenant = of_tenant AND w.feed = of_feed AND w.view = ANY (names);
  DELETE FROM branch_of_set o WHERE o.tenant = of_tenant AND o.feed = of_feed AND o.branch_set = of_set;
  DELETE FROM branch_set b WHERE b.tenant = of_tenant AND b.feed = of_feed AND b.branch_set = of_set;
  RETURN 'done';
END $$;

-- ── Keys ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- With the rights of its owner: who may change keys need not be able to write this table otherwise.
CREATE FUNCTION raise_keys_version() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  -- No number comes twice, not even after a promotion that lost some: with the time it goes on beyond those that were lost.
  UPDATE keys_version SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  RETURN NULL;
END $$;

CREATE TRIGGER key_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF secret_hash, pepper_id, label, operator, expires_ms, revoked_ms, rate_per_second, rate_burst ON key
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
CREATE TRIGGER key_terms_changed AFTER UPDATE OF admin_scopes, networks ON key
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
CREATE TRIGGER key_grant_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE ON key_grant
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
CREATE TRIGGER tenant_state_changed AFTER UPDATE OF suspended, without_duties ON tenant
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
CREATE TRIGGER pepper_changed AFTER UPDATE OF pepper_id ON store
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
CREATE TRIGGER leaving_tenant_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF reading_ends_ms ON leaving_tenant
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
-- What a node has seen of a key says whether its views of branches are there.
CREATE TRIGGER branch_set_changed AFTER DELETE OR TRUNCATE OR UPDATE OF state ON branch_set
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();

-- ── Erasure ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The steps of an erasure, of retention and of a restriction go to each of their events by its key. As one UPDATE joined with the
-- list of positions, a database that was filled a moment ago, and has no statistics yet, read the whole feed for each step: it
-- takes every feed for some three rows. Half a hundred events took 54 ms in a feed of 100,000; and longer in longer feeds.

-- The hashes of payloads that these events came with go, and those of the ids that were skipped because of them.
CREATE FUNCTION forget_hashes(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  FOR i IN 1 .. cardinality(ids) LOOP
    UPDATE event_id e SET content_hash = NULL WHERE e.tenant = of_tenant AND e.feed = of_feed AND e.id = ids[i];
  END LOOP;
  FOR i IN 1 .. cardinality(positions) LOOP
    UPDATE event_id e SET content_hash = NULL
      WHERE e.tenant = of_tenant AND e.feed = of_feed AND e.position = positions[i] AND e.skipped IS NOT NULL;
  END LOOP;
END $$;

-- These events lose their payloads, kept ones too, and all hashes that were made of them go. What is kept is looked for after
-- the events are locked, so that what another session has just put aside is found. Events of properties keep their branch, which decides
-- the views that they stand in: it names an office of the agency.
CREATE FUNCTION take_payloads(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[], new_json text[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  of_subject uuid;
BEGIN
  FOR i IN 1 .. cardinality(positions) LOOP
    UPDATE event t SET json = new_json[i], state = 'erased', branch = CASE of_feed WHEN 1 THEN t.branch END
      WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = positions[i]
      RETURNING t.subject INTO of_subject;
    DELETE FROM kept_event k
      WHERE k.tenant = of_tenant AND k.feed = of_feed AND k.subject = of_subject AND k.position = positions[i];
  END LOOP;
  PERFORM forget_hashes(of_tenant, of_feed, positions, ids);
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

-- ── Restriction ────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The bytes of these events go aside, and they show the given ones. Answers the positions of those that showed their payloads.
CREATE FUNCTION hide_events(of_tenant uuid, of_feed smallint, positions bigint[], new_json text[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  shown bigint[] := '{}';
  was record;
BEGIN
  FOR i IN 1 .. cardinality(positions) LOOP
    SELECT t.subject, t.sequence, t.json INTO was FROM event t
      WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = positions[i] AND t.state = 'full'
      FOR NO KEY UPDATE;
    CONTINUE WHEN NOT FOUND;
    INSERT INTO kept_event (tenant, feed, subject, position, sequence, json)
      VALUES (of_tenant, of_feed, was.subject, positions[i], was.sequence, was.json);
    UPDATE event t SET json = new_json[i], state = 'restricted'
      WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = positions[i];
    shown := shown || positions[i];
  END LOOP;
  RETURN shown;
END $$;

-- These events show again what is kept of them. Answers the positions of those.
CREATE FUNCTION show_events(of_tenant uuid, of_feed smallint, of_subject uuid, positions bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  shown bigint[] := '{}';
  was_json text;
BEGIN
  FOR i IN 1 .. cardinality(positions) LOOP
    DELETE FROM kept_event k
      WHERE k.tenant = of_tenant AND k.feed = of_feed AND k.subject = of_subject AND k.position = positions[i]
      RETURNING k.json INTO was_json;
    CONTINUE WHEN NOT FOUND;
    UPDATE event t SET json = was_json, state = 'full'
      WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = positions[i] AND t.state = 'restricted';
    IF FOUND THEN shown := shown || positions[i]; END IF;
  END LOOP;
  RETURN shown;
END $$;

-- What is kept of these events goes, and they count as shown: another store had lifted the restriction, and thinned them since.
CREATE FUNCTION drop_kept(of_tenant uuid, of_feed smallint, positions bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  of_subject uuid;
BEGIN
  FOR i IN 1 .. cardinality(positions) LOOP
    UPDATE event t SET state = 'full'
      WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = positions[i] AND t.state = 'restricted'
      RETURNING t.subject INTO of_subject;
    CONTINUE WHEN NOT FOUND;
    DELETE FROM kept_event k
      WHERE k.tenant = of_tenant AND k.feed = of_feed AND k.subject = of_subject AND k.position = positions[i];
  END LOOP;
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

-- ── Retention ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- These events lose their payloads, unless an erasure has taken them meanwhile, and all hashes that were made of them go. Branches as in
-- take_payloads.
CREATE FUNCTION thin_payloads(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[], new_json text[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  FOR i IN 1 .. cardinality(positions) LOOP
    UPDATE event t SET json = new_json[i], state = 'thinned', branch = CASE of_feed WHEN 1 THEN t.branch END
      WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = positions[i] AND t.state = 'full';
  END LOOP;
  PERFORM forget_hashes(of_tenant, of_feed, positions, ids);
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

-- ── Consumers ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Results that are put while an erasure is begun: each waits for the other, for a moment, so that the erasure takes them or they see it. A lock
-- of the tenant's own, and of no row: appends never wait for it. Its number has 64 bits; two tenants that had the same one would wait for
-- each other, and nothing worse.
CREATE FUNCTION lock_results(of_tenant uuid, alone boolean) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF alone THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('results of ' || of_tenant, 0));
  ELSE
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('results of ' || of_tenant, 0));
  END IF;
END
$$;

-- An erasure takes what consumers have said, which may have been made of the payloads: their words, and addresses of pages. That of one
-- event takes what was said of that version by any number: up to the property's next event.
CREATE FUNCTION take_results() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  taken event;
BEGIN
  IF NEW.feed <> 1 THEN RETURN NEW; END IF;
  PERFORM lock_results(NEW.tenant, true);
  -- What was put until now is seen by statements that begin now.
  IF NEW.subject IS NOT NULL THEN
    DELETE FROM consumer_result WHERE tenant = NEW.tenant AND subject = NEW.subject;
    DELETE FROM consumer_result_change WHERE tenant = NEW.tenant AND subject = NEW.subject;
    RETURN NEW;
  END IF;
  SELECT * INTO taken FROM event AS e WHERE e.tenant = NEW.tenant AND e.feed = NEW.feed AND e.position = NEW.last_position;
  DELETE FROM consumer_result AS r
  WHERE r.tenant = taken.tenant AND r.subject = taken.subject AND r.sequence >= taken.sequence
    AND r.sequence < coalesce((SELECT e.sequence FROM event AS e
      WHERE e.tenant = taken.tenant AND e.feed = taken.feed AND e.subject = taken.subject AND e.sequence > 0 AND e.position > taken.position
      ORDER BY e.tenant, e.feed, e.subject, e.position LIMIT 1), 9223372036854775807);
  DELETE FROM consumer_result_change AS r
  WHERE r.tenant = taken.tenant AND r.subject = taken.subject AND r.sequence >= taken.sequence
    AND r.sequence < coalesce((SELECT e.sequence FROM event AS e
      WHERE e.tenant = taken.tenant AND e.feed = taken.feed AND e.subject = taken.subject AND e.sequence > 0 AND e.position > taken.position
      ORDER BY e.tenant, e.feed, e.subject, e.position LIMIT 1), 9223372036854775807);
  RETURN NEW;
END
$$;
CREATE TRIGGER erasure_takes_results AFTER INSERT ON erasure FOR EACH ROW EXECUTE FUNCTION take_results();

-- ── Webhooks ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- An erasure takes what receivers have answered about its subject: what was tried stays. So does each step of its end, since tries were
-- under way when it began, and it ends when every node has forgotten what it read before.
CREATE FUNCTION take_answers() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.state = OLD.state THEN RETURN NEW; END IF;
  UPDATE webhook_delivery AS d SET answer = NULL
  WHERE d.answer IS NOT NULL
    AND d.endpoint_no = ANY (ARRAY(SELECT w.endpoint_no FROM webhook AS w WHERE w.tenant = NEW.tenant AND w.feed = NEW.feed))
    AND d.subject = coalesce(NEW.subject, (SELECT e.subject FROM event AS e
      WHERE e.tenant = NEW.tenant AND e.feed = NEW.feed AND e.position = NEW.last_position));
  RETURN NEW;
END
$$;
CREATE TRIGGER erasure_takes_answers AFTER INSERT OR UPDATE OF state ON erasure FOR EACH ROW EXECUTE FUNCTION take_answers();

-- ── Audit ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- A row stays as it is, whatever rights a role was given. Only the owner of the table removes rows: `audit prune` names the
-- time, in milliseconds, before which rows may go, until its commit.
CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    IF OLD.at_ms < coalesce(nullif(current_setting('property_events.audit_pruned_before', true), ''), '0')::bigint
    THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'rows of the audit are never changed, and removed by audit prune alone' USING ERRCODE = '42501';
END $$;
CREATE TRIGGER audit_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit();
CREATE TRIGGER audit_not_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION keep_audit();
