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

-- The erasure of one event takes what was said of that version by any number: up to the property's next event.
CREATE OR REPLACE FUNCTION take_results() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  taken event;
BEGIN
  IF NEW.feed <> 1 THEN RETURN NEW; END IF;
  PERFORM lock_results(NEW.tenant, true);
  -- What was put until now is seen by statements that begin now.
  IF NEW.subject IS NOT NULL THEN
    DELETE FROM consumer_result WHERE tenant = NEW.tenant AND subject = NEW.subject;
    RETURN NEW;
  END IF;
  SELECT * INTO taken FROM event AS e WHERE e.tenant = NEW.tenant AND e.feed = NEW.feed AND e.position = NEW.last_position;
  DELETE FROM consumer_result AS r
  WHERE r.tenant = taken.tenant AND r.subject = taken.subject AND r.sequence >= taken.sequence
    AND r.sequence < coalesce((SELECT e.sequence FROM event AS e
      WHERE e.tenant = taken.tenant AND e.feed = taken.feed AND e.subject = taken.subject AND e.sequence > 0 AND e.position > taken.position
      ORDER BY e.tenant, e.feed, e.subject, e.position LIMIT 1), 9223372036854775807);
  RETURN NEW;
END
$$;
