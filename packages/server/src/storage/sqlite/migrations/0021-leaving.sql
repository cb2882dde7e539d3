-- Tenants that leave (PROTOCOL §5.10). The table is empty, so the step takes milliseconds.
CREATE TABLE leaving_tenant (
  tenant TEXT PRIMARY KEY REFERENCES tenant (tenant) ON DELETE CASCADE,
  since_ms INTEGER NOT NULL,        -- since when nothing is taken for it; milliseconds since 1970
  reading_ends_ms INTEGER NOT NULL, -- from then on its keys are refused
  unpublished_ms INTEGER            -- when the last of its properties was found to be removed; NULL: they are being removed
) STRICT, WITHOUT ROWID;

CREATE TRIGGER leaving_tenant_added AFTER INSERT ON leaving_tenant BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER leaving_tenant_changed AFTER UPDATE OF reading_ends_ms ON leaving_tenant BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER leaving_tenant_removed AFTER DELETE ON leaving_tenant BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
