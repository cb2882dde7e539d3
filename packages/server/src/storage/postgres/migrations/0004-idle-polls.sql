-- As it was, but it waits only for a transaction that is still running. Waiting leaves a mark in the row, too, and every
-- later poll of the idle feed locked and wrote until the next append.
CREATE OR REPLACE FUNCTION settle_feed(of_tenant uuid, of_feed smallint, given_floor bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  -- The clock counts whole microseconds, and a client may note its time of asking more finely.
  until bigint := coalesce(given_floor, now_ticks() + 10);
  mark xid;
BEGIN
  -- First the floor: whoever takes the counter after it has been looked at below finds it.
  IF until > (SELECT last_value FROM window_floor) THEN PERFORM setval('window_floor', until); END IF;
  SELECT f.xmax INTO mark FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed;
  -- Whoever has taken the counter has put its number there, and holds the lock of that number until its commit can be
  -- seen. (Polls that waited together leave a number of another kind; one that is somebody's by chance costs a wait.)
  IF mark <> '0'::xid AND EXISTS (
    SELECT FROM pg_locks l WHERE l.locktype = 'transactionid' AND l.transactionid = mark
  ) THEN
    -- A row lock is written down; nobody needs it after a crash.
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM FROM feed f WHERE f.tenant = of_tenant AND f.feed = of_feed FOR SHARE;
  END IF;
END $$;
