-- Who changed what, written in the commit of the change. Look at it with:
--   SELECT datetime(at_ms / 1000, 'unixepoch'), actor, action, tenant, target, detail FROM audit ORDER BY audit_no
CREATE TABLE audit (
  audit_no INTEGER PRIMARY KEY AUTOINCREMENT, -- order of commits; no number is given twice
  id TEXT NOT NULL UNIQUE,       -- UUID version 7
  at_ms INTEGER NOT NULL,        -- milliseconds since 1970
  actor TEXT NOT NULL,           -- 'key:' or 'cli:' and an opaque id, or 'service'
  action TEXT NOT NULL,
  tenant TEXT,                   -- NULL: of no tenant
  target TEXT,                   -- id of what was changed
  detail TEXT NOT NULL           -- JSON
) STRICT;
CREATE INDEX audit_tenant ON audit (tenant, audit_no);
CREATE INDEX audit_target ON audit (target, audit_no);
CREATE INDEX audit_at ON audit (at_ms);

-- A row stays as it is. `audit prune` names the time, in milliseconds, before which rows may go.
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN
  SELECT raise(ABORT, 'rows of the audit are never changed');
END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit
WHEN OLD.at_ms >= coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'audit_pruned_before'), 0)
BEGIN
  SELECT raise(ABORT, 'rows of the audit are removed by audit prune alone');
END;
-- REPLACE would remove a row without a word to the trigger above.
CREATE TRIGGER audit_not_replaced BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id OR audit_no = NEW.audit_no)
BEGIN
  SELECT raise(ABORT, 'rows of the audit are never changed');
END;
