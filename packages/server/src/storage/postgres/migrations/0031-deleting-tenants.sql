-- Deleting a tenant with all it owns (docs/decisions/0044). New tables and functions: nothing that is in use is locked.
CREATE TABLE tenant_deletion (
  deletion uuid PRIMARY KEY,        -- UUIDv7, so they lie in the order in which they were begun
  tenant uuid NOT NULL,
  actor text NOT NULL,
  state text NOT NULL,              -- 'exporting', 'deleting', 'forgetting', 'deleted'
  said text NOT NULL,               -- JSON: the export, the feeds as they were, and the name until it is 'deleted'
  counts jsonb NOT NULL,            -- rows removed so far
  property_digest text NOT NULL,    -- of the events removed so far (deletion-record.ts)
  contact_digest text NOT NULL,
  property_position bigint NOT NULL DEFAULT 0, -- of the last event removed
  contact_position bigint NOT NULL DEFAULT 0,
  exporter uuid,                    -- the node that writes the export
  begun_ms bigint NOT NULL,         -- milliseconds since 1970
  deleted_ms bigint
);
CREATE UNIQUE INDEX tenant_deletion_open ON tenant_deletion (tenant) WHERE state <> 'deleted';

-- Nodes that hold nothing any more that they read of the tenant.
CREATE TABLE tenant_deletion_node (
  deletion uuid NOT NULL,
  node uuid NOT NULL,
  PRIMARY KEY (deletion, node)
);
SELECT share_with_nodes('tenant_deletion', 'SELECT, INSERT, UPDATE'),
  share_with_nodes('tenant_deletion_node', 'SELECT, INSERT');

-- The next events of a feed, with their ids, subjects and entries of views. Answers how many events and subjects went.
CREATE FUNCTION delete_next_events(of_deletion uuid, of_feed smallint, at_most integer, OUT events bigint, OUT subjects bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  d tenant_deletion;
  e record;
  digest text;
  from_position bigint;
  to_position bigint;
  to_created bigint;
  ids uuid[] := '{}';
BEGIN
  events := 0;
  subjects := 0;
  SELECT * INTO d FROM tenant_deletion t WHERE t.deletion = of_deletion;
  IF of_feed = 1 THEN digest := d.property_digest; from_position := d.property_position;
  ELSE digest := d.contact_digest; from_position := d.contact_position;
  END IF;
  FOR e IN
    SELECT t.position, t.sequence, t.id, t.subject, t.created FROM event t
    WHERE t.tenant = d.tenant AND t.feed = of_feed AND t.position > from_position
    ORDER BY t.tenant, t.feed, t.position LIMIT at_most
  LOOP
    digest := encode(sha256(decode(digest, 'hex') || convert_to(e.sequence || ' ' || e.id || E'\n', 'UTF8')), 'hex');
    ids := ids || e.id;
    to_position := e.position;
    to_created := e.created;
    events := events + 1;
  END LOOP;
  IF events = 0 THEN RETURN; END IF;
  WITH named AS (
    SELECT DISTINCT t.subject FROM event t
    WHERE t.tenant = d.tenant AND t.feed = of_feed AND t.position > from_position AND t.position <= to_position
  ), gone AS (
    DELETE FROM subject s USING named
    WHERE s.tenant = d.tenant AND s.feed = of_feed AND s.subject = named.subject RETURNING 1
  )
  SELECT count(*) INTO subjects FROM gone;
  DELETE FROM event_id i USING unnest(ids) AS given (id)
  WHERE i.tenant = d.tenant AND i.feed = of_feed AND i.id = given.id;
  DELETE FROM view_entry v USING view w
  WHERE w.tenant = d.tenant AND w.feed = of_feed AND v.tenant = d.tenant AND v.feed = of_feed AND v.view = w.view
    AND v.created <= to_created AND v.position > 0;
  DELETE FROM event t
  WHERE t.tenant = d.tenant AND t.feed = of_feed AND t.position > from_position AND t.position <= to_position;
  IF of_feed = 1 THEN
    UPDATE tenant_deletion t SET property_digest = digest, property_position = to_position WHERE t.deletion = of_deletion;
  ELSE
    UPDATE tenant_deletion t SET contact_digest = digest, contact_position = to_position WHERE t.deletion = of_deletion;
  END IF;
END $$;

CREATE FUNCTION count_deleted(of_deletion uuid, kind text, more bigint) RETURNS void LANGUAGE sql VOLATILE AS $$
  UPDATE tenant_deletion t SET counts = jsonb_set(t.counts, ARRAY[kind], to_jsonb((t.counts ->> kind)::bigint + more))
  WHERE t.deletion = of_deletion
$$;

-- One step. With the rights of its owner, because nodes may delete no event: it deletes none but of a tenant whose deletion is on
-- record. Whoever is at it has the row of the deletion.
--   'removed'; 'finished': no row is left; 'busy': another session is at it, or the tenant is being exported
CREATE FUNCTION delete_owned(of_deletion uuid, at_most integer, to_the_end boolean)
RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
  d tenant_deletion;
  of_feed smallint;
  owned text;
  id_type text;
  removed bigint;
  subjects bigint;
  erasures uuid[];
BEGIN
  SELECT * INTO d FROM tenant_deletion t WHERE t.deletion = of_deletion FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND OR d.state = 'exporting' THEN RETURN 'busy'; END IF;
  IF d.state = 'deleted' OR (d.state = 'forgetting' AND NOT to_the_end) THEN RETURN 'finished'; END IF;
  FOREACH of_feed IN ARRAY ARRAY[1, 2]::smallint[] LOOP
    SELECT next.events, next.subjects INTO removed, subjects FROM delete_next_events(of_deletion, of_feed, at_most) AS next;
    IF removed > 0 THEN
      PERFORM count_deleted(of_deletion, 'events', removed), count_deleted(of_deletion, 'subjects', subjects);
      RETURN 'removed';
    END IF;
  END LOOP;
  erasures := ARRAY(SELECT e.erasure FROM erasure e WHERE e.tenant = d.tenant LIMIT at_most);
  IF cardinality(erasures) > 0 THEN
    DELETE FROM erasure_sent WHERE erasure = ANY (erasures);
    DELETE FROM erasure_noted WHERE erasure = ANY (erasures);
    DELETE FROM erasure_node WHERE erasure = ANY (erasures);
    DELETE FROM erasure WHERE erasure = ANY (erasures);
    PERFORM count_deleted(of_deletion, 'erasures', cardinality(erasures));
    RETURN 'removed';
  END IF;
  -- Every table that says of its rows whose they are, later ones too; but for what goes with the events, with keys or with the tenant
  -- itself, and what is kept for ever.
  FOR owned, id_type IN
    SELECT c.relname, format_type(a.atttypid, NULL) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'tenant_deletion'::regclass)
      AND c.relkind = 'r' AND a.attname = 'tenant' AND NOT a.attisdropped
      AND c.relname <> ALL ('{event,erasure,key_grant,view,feed,tenant,moment,leaving_tenant,audit,tenant_deletion}'::text[])
    ORDER BY c.relname
  LOOP
    EXECUTE format('DELETE FROM %I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %I WHERE tenant = $1::%s LIMIT $2))', owned, owned, id_type)
      USING d.tenant, at_most;
    GET DIAGNOSTICS removed = ROW_COUNT;
    CONTINUE WHEN removed = 0;
    IF owned IN ('subject', 'hold', 'restriction', 'sent') THEN
      PERFORM count_deleted(of_deletion, CASE owned WHEN 'sent' THEN 'sent' ELSE owned || 's' END, removed);
    END IF;
    RETURN 'removed';
  END LOOP;
  RETURN 'finished';
END $$;

-- Grants for the tenant, and the keys that open no other. The caller notes them in the audit.
CREATE FUNCTION delete_owned_keys(of_deletion uuid, at_most integer)
RETURNS TABLE (key_id text, stays boolean) LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
  d tenant_deletion;
  numbers bigint[];
BEGIN
  SELECT * INTO d FROM tenant_deletion t WHERE t.deletion = of_deletion FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND OR d.state NOT IN ('deleting', 'forgetting') THEN RETURN; END IF;
  numbers := ARRAY(
    SELECT k.key_no FROM key k
    WHERE k.key_no IN (SELECT g.key_no FROM key_grant g WHERE g.tenant = d.tenant ORDER BY g.key_no LIMIT at_most)
    ORDER BY k.key_no FOR UPDATE
  );
  DELETE FROM key_grant g WHERE g.tenant = d.tenant AND g.key_no = ANY (numbers);
  RETURN QUERY
    WITH kept AS (
      SELECT k.key_no, k.key_id, EXISTS (SELECT FROM key_grant g WHERE g.key_no = k.key_no) AS stays
      FROM key k WHERE k.key_no = ANY (numbers)
    ), gone AS (
      DELETE FROM key k USING kept WHERE k.key_no = kept.key_no AND NOT kept.stays
    )
    SELECT kept.key_id, kept.stays FROM kept ORDER BY kept.key_no;
END $$;

-- The tenant itself, of which nothing else is left.
CREATE FUNCTION delete_owner(of_deletion uuid) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
  of_tenant uuid;
BEGIN
  SELECT t.tenant INTO STRICT of_tenant FROM tenant_deletion t WHERE t.deletion = of_deletion AND t.state = 'forgetting';
  DELETE FROM moment WHERE tenant = of_tenant;
  DELETE FROM leaving_tenant WHERE tenant = of_tenant;
  DELETE FROM view WHERE tenant = of_tenant;
  DELETE FROM feed WHERE tenant = of_tenant;
  DELETE FROM tenant WHERE tenant = of_tenant;
  DELETE FROM tenant_deletion_node WHERE deletion = of_deletion;
END $$;

DO $$
DECLARE
  signature text;
BEGIN
  FOREACH signature IN ARRAY ARRAY['delete_owned(uuid, integer, boolean)', 'delete_owned_keys(uuid, integer)', 'delete_owner(uuid)']
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', signature, current_schema());
  END LOOP;
END $$;
