-- No window is answered beyond the reservation of time, which is committed like an event. The latest moment answered is
-- kept in an unlogged sequence, so a crash or a promotion loses it; the reservation then stands in its place
-- (docs/decisions/0013).

-- One row, or none while no window was ever answered.
CREATE TABLE time_reservation (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  until bigint NOT NULL            -- ticks; never falls
);

-- The latest moment at which a window was answered. 0: lost, or there was none.
ALTER SEQUENCE window_floor RENAME TO answered_until;

-- Windows answered before this migration lie before the clock, and calls under way are over within 10 s.
INSERT INTO time_reservation (until)
  SELECT greatest(last_value, now_ticks()) + 100000000 FROM answered_until WHERE last_value > 0;

-- The least stamp from now on.
CREATE FUNCTION stamp_floor() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  answered bigint;
BEGIN
  SELECT last_value INTO answered FROM answered_until;
  IF answered > 0 THEN RETURN answered; END IF;
  RETURN coalesce((SELECT until FROM time_reservation), 0);
END $$;

-- Named as the sequence was, so that the functions that append go on as they are.
CREATE VIEW window_floor AS SELECT stamp_floor() AS last_value;

-- Whoever may use the counters of feeds may use this relation in the same way.
CREATE FUNCTION share_with_nodes(relation regclass, privileges text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  grantee oid;
BEGIN
  FOR grantee IN
    SELECT DISTINCT granted.grantee FROM pg_class c, aclexplode(c.relacl) AS granted
    WHERE c.oid = 'feed'::regclass AND granted.grantee <> c.relowner
  LOOP
    EXECUTE format('GRANT %s ON %s TO %s', privileges, relation,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END);
  END LOOP;
END $$;
SELECT share_with_nodes('time_reservation', 'SELECT, INSERT, UPDATE'), share_with_nodes('window_floor', 'SELECT');

-- Every later stamp lies at or after `wanted`. One call at a time, because a sequence cannot be raised in one step and a
-- slower call would put it back; the lock is given back at once, not at the end of the transaction.
CREATE FUNCTION raise_floor(wanted bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  answered bigint;
BEGIN
  SELECT last_value INTO answered FROM answered_until;
  -- One that cannot be read counts as lost until it is made anew.
  IF NOT FOUND OR answered >= wanted THEN RETURN; END IF;
  PERFORM pg_advisory_lock(1346721364, 'time_reservation'::regclass::oid::integer);
  PERFORM setval('answered_until', greatest(wanted, stamp_floor()));
  PERFORM pg_advisory_unlock(1346721364, 'time_reservation'::regclass::oid::integer);
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
  PERFORM share_with_nodes('answered_until', 'SELECT, UPDATE, USAGE');
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

-- Waits until a commit to the feed that is under way has ended, if there is one. Whoever has taken the counter has put the
-- number of its transaction there, and holds the lock of that number until its commit can be seen. (Polls that waited
-- together leave a number of another kind; one that is somebody's by chance costs a wait.)
CREATE FUNCTION await_commit(of_tenant uuid, of_feed smallint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  mark xid;
BEGIN
  SELECT f.xmax INTO mark FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed;
  IF mark <> '0'::xid AND EXISTS (
    SELECT FROM pg_locks l WHERE l.locktype = 'transactionid' AND l.transactionid = mark
  ) THEN
    -- A row lock is written down; nobody needs it after a crash.
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed FOR SHARE;
  END IF;
END $$;

-- A moment at which no stamped event of the feed waits for its commit, and that all later stamps lie after: what is read
-- in a later statement misses nothing stamped before. It may be answered if it lies within what is reserved.
CREATE FUNCTION settle_window(of_tenant uuid, of_feed smallint, given_floor bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  -- The clock counts whole microseconds, and a client may note its time of asking more finely.
  moment bigint := coalesce(given_floor, now_ticks() + 10);
BEGIN
  -- First the floor: whoever takes the counter after it has been looked at finds it.
  PERFORM raise_floor(moment);
  PERFORM await_commit(of_tenant, of_feed);
  RETURN moment;
END $$;

-- For nodes of the versions before, which know nothing of a reservation: moved here if need be, and flushed with this call.
CREATE OR REPLACE FUNCTION settle_feed(of_tenant uuid, of_feed smallint, given_floor bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  flush text := current_setting('synchronous_commit');
  moment bigint := settle_window(of_tenant, of_feed, given_floor);
BEGIN
  IF moment <= (SELECT until FROM time_reservation) THEN RETURN; END IF;
  PERFORM set_config('synchronous_commit', flush, true);
  PERFORM reserve_time(given_floor);
END $$;

-- `last_used_ms` is written every minute while a key is used: room for that in its page.
ALTER TABLE key SET (fillfactor = 70);
