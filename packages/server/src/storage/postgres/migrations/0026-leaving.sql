-- Tenants that leave (PROTOCOL §5.10). The table is empty, so the step takes milliseconds. The foreign key locks `tenant` against
-- changes for as long.
CREATE TABLE leaving_tenant (
  tenant uuid PRIMARY KEY REFERENCES tenant (tenant) ON DELETE CASCADE,
  since_ms bigint NOT NULL,        -- since when nothing is taken for it; milliseconds since 1970
  reading_ends_ms bigint NOT NULL, -- from then on its keys are refused
  unpublished_ms bigint            -- when the last of its properties was found to be removed; NULL: they are being removed
);

CREATE TRIGGER leaving_tenant_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF reading_ends_ms ON leaving_tenant
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();

SELECT share_with_nodes('leaving_tenant', 'SELECT, INSERT, UPDATE, DELETE');
