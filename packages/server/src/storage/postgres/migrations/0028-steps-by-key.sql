-- The steps of an erasure, of retention and of a restriction go to each of their events by its key. As one UPDATE joined with the
-- list of positions, a database that was filled a moment ago, and has no statistics yet, read the whole feed for each step: it
-- takes every feed for some three rows. Half a hundred events took 54 ms in a feed of 100,000; and longer in longer feeds.

-- These events lose their payloads, kept ones too, and all hashes that were made of them go. What is kept is looked for after
-- the events are locked, so that what another session has just put aside is found.
CREATE OR REPLACE FUNCTION take_payloads(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[], new_json text[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  of_subject uuid;
BEGIN
  FOR i IN 1 .. cardinality(positions) LOOP
    UPDATE event t SET json = new_json[i], state = 'erased', branch = NULL
      WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = positions[i]
      RETURNING t.subject INTO of_subject;
    DELETE FROM kept_event k
      WHERE k.tenant = of_tenant AND k.feed = of_feed AND k.subject = of_subject AND k.position = positions[i];
  END LOOP;
  PERFORM forget_hashes(of_tenant, of_feed, positions, ids);
END $$;

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

-- These events lose their payloads, unless an erasure has taken them meanwhile, and all hashes that were made of them go.
CREATE OR REPLACE FUNCTION thin_payloads(of_tenant uuid, of_feed smallint, positions bigint[], ids uuid[], new_json text[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  FOR i IN 1 .. cardinality(positions) LOOP
    UPDATE event t SET json = new_json[i], state = 'thinned', branch = NULL
      WHERE t.tenant = of_tenant AND t.feed = of_feed AND t.position = positions[i] AND t.state = 'full';
  END LOOP;
  PERFORM forget_hashes(of_tenant, of_feed, positions, ids);
END $$;

-- The bytes of these events go aside, and they show the given ones. Answers the positions of those that showed their payloads.
CREATE OR REPLACE FUNCTION hide_events(of_tenant uuid, of_feed smallint, positions bigint[], new_json text[])
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
CREATE OR REPLACE FUNCTION show_events(of_tenant uuid, of_feed smallint, of_subject uuid, positions bigint[])
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
