-- Views of sets of branches (D11, docs/decisions/0042). `feed` is locked for itself for a moment, to note two things in the catalogue; the
-- new tables are empty, and `key_grant` has a row a grant, so that the whole step takes milliseconds.

-- A set of branches that a grant names. Its views are 'branches.SET.all', '.sales' and '.lettings', rows of `view` as others are.
CREATE TABLE branch_set (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  branch_set text NOT NULL,        -- 16 hex digits of a hash over its branches
  branches text NOT NULL,          -- as in `key_grant`
  state text NOT NULL,             -- 'filling', 'ready' (appends enter events in its views), 'dropping'
  filled bigint NOT NULL,          -- events up to this position are entered; what comes after `ready` is not noted here
  PRIMARY KEY (tenant, feed, branch_set)
);
CREATE INDEX branch_set_open ON branch_set (tenant, feed, branch_set) WHERE state <> 'ready';

-- The branches of the sets, one by one.
CREATE TABLE branch_of_set (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  branch text NOT NULL,
  branch_set text NOT NULL,
  PRIMARY KEY (tenant, feed, branch, branch_set)
);

-- Subjects whose latest event is of a branch of the set: so that reading only those never walks through superseded ones.
CREATE TABLE branch_latest (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid NOT NULL,
  branch_set text NOT NULL,
  category text,
  position bigint NOT NULL,
  PRIMARY KEY (tenant, feed, subject, branch_set)
) WITH (fillfactor = 85);
CREATE INDEX branch_latest_order ON branch_latest (tenant, feed, branch_set, category, position) WHERE position > 0;

CREATE INDEX key_grant_limited ON key_grant (tenant, key_no) WHERE branches IS NOT NULL;

-- True: the feed has views that appends enter events in. Read where the counter is moved.
ALTER TABLE feed ADD COLUMN branch_views boolean NOT NULL DEFAULT false;

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

-- Wherever a counter moves on, by a publication, an erasure or an import, and by nodes of whatever version: all insert the events first,
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

-- What a node has seen of a key says whether its views are there.
CREATE TRIGGER branch_set_changed AFTER DELETE OR TRUNCATE OR UPDATE OF state ON branch_set
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();

SELECT share_with_nodes('branch_set', 'SELECT, INSERT, UPDATE, DELETE'),
  share_with_nodes('branch_of_set', 'SELECT, INSERT, UPDATE, DELETE'),
  share_with_nodes('branch_latest', 'SELECT, INSERT, UPDATE, DELETE'),
  share_with_nodes('view', 'INSERT, DELETE'), share_with_nodes('view_entry', 'DELETE');

-- As they were, but events of properties keep their branch, which decides the views that they stand in. It names an office of the agency.

CREATE OR REPLACE FUNCTION take_payloads(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[], new_json text[])
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

CREATE OR REPLACE FUNCTION thin_payloads(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[], new_json text[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  FOR i IN 1 .. cardinality(positions) LOOP
    UPDATE event t SET json = new_json[i], state = 'thinned', branch = CASE of_feed WHEN 1 THEN t.branch END
      WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = positions[i] AND t.state = 'full';
  END LOOP;
  PERFORM forget_hashes(of_tenant, of_feed, positions, ids);
END $$;
