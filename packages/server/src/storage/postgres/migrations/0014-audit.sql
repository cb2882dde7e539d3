-- Who changed what, written in the transaction of the change.
CREATE TABLE audit (
  audit_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE,         -- version 7
  at_ms bigint NOT NULL,           -- milliseconds since 1970, by the clock of the node
  actor text NOT NULL,             -- 'key:' or 'cli:' and an opaque id, or 'service'
  action text NOT NULL,
  tenant uuid,                     -- NULL: of no tenant
  target text,                     -- id of what was changed
  detail text NOT NULL             -- JSON
);
CREATE INDEX audit_tenant ON audit (tenant, audit_no);
CREATE INDEX audit_target ON audit (target, audit_no);
CREATE INDEX audit_at ON audit (at_ms);

-- A row stays as it is, whatever rights a role was given. Only the owner of the table removes rows, and only where it has
-- said in the same transaction that it means to, as `audit prune` does.
CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('property_events.prune_audit', true) = 'on' AND pg_has_role(
    (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE'
  ) THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'rows of the audit are never changed, and removed by audit prune alone' USING ERRCODE = '42501';
END $$;
CREATE TRIGGER audit_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit();
CREATE TRIGGER audit_not_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION keep_audit();

SELECT share_with_nodes('audit', 'SELECT, INSERT');
