-- Administration over HTTP (D11). The tables have a row a tenant, a key and a grant, so that each step takes milliseconds; requests that
-- look a key up wait meanwhile.

ALTER TABLE tenant ADD COLUMN reference text; -- the operator's own name for it
CREATE UNIQUE INDEX tenant_reference ON tenant (reference) WHERE reference IS NOT NULL;
CREATE INDEX tenant_name ON tenant (name);
CREATE UNIQUE INDEX tenant_no_order ON tenant (tenant_no);
ALTER TABLE key ADD COLUMN admin_scopes text, -- of an operator key, separated by spaces; NULL: none
  ADD COLUMN networks text,                   -- that it may be used from, separated by spaces; NULL: any
  ADD COLUMN replaces text;                   -- id of the key that it was made for
CREATE INDEX key_grant_tenant ON key_grant (tenant, key_no);

CREATE TRIGGER key_terms_changed AFTER UPDATE OF admin_scopes, networks ON key
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
