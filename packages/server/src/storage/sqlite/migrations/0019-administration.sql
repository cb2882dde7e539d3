-- Administration over HTTP (D11). Each step takes milliseconds: the tables have a row a tenant, a key and a grant.

ALTER TABLE tenant ADD COLUMN reference TEXT; -- the operator's own name for it
CREATE UNIQUE INDEX tenant_reference ON tenant (reference) WHERE reference IS NOT NULL;
CREATE INDEX tenant_name ON tenant (name);
ALTER TABLE key ADD COLUMN admin_scopes TEXT; -- of an operator key, separated by spaces; NULL: none
ALTER TABLE key ADD COLUMN networks TEXT;     -- that it may be used from, separated by spaces; NULL: any
ALTER TABLE key ADD COLUMN replaces TEXT;     -- id of the key that it was made for
CREATE INDEX key_grant_tenant ON key_grant (tenant, key_no);

DROP TRIGGER key_changed;
CREATE TRIGGER key_changed AFTER UPDATE OF secret_hash, pepper_id, label, operator, expires_ms, revoked_ms, rate_per_second, rate_burst, admin_scopes, networks ON key BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
