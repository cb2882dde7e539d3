-- Rises with each change of a key, a grant, a tenant's suspension or the pepper, by whatever program or version of it: a node that has seen
-- a key at this version need not look for it again. Last uses are not counted. A row and no sequence: a sequence is seen to have
-- risen before the change is, and a node would keep what it read in between.
--
-- A transaction that changes keys holds this row to its end. One that goes on to change keys that another may be changing
-- touches the row first, or the two wait for each other.
CREATE TABLE keys_version (version bigint NOT NULL);
CREATE UNIQUE INDEX keys_version_is_one ON keys_version ((true));
INSERT INTO keys_version VALUES (0);

-- With the rights of its owner: who may change keys need not be able to write this table otherwise.
CREATE FUNCTION raise_keys_version() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  -- No number comes twice, not even after a promotion that lost some: with the time it goes on beyond those that were lost.
  UPDATE keys_version SET version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  RETURN NULL;
END $$;

CREATE TRIGGER key_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF secret_hash, pepper_id, label, operator, expires_ms, revoked_ms, rate_per_second, rate_burst ON key
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
CREATE TRIGGER key_grant_changed AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE ON key_grant
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
CREATE TRIGGER tenant_suspension_changed AFTER UPDATE OF suspended ON tenant
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();
CREATE TRIGGER pepper_changed AFTER UPDATE OF pepper_id ON store
  FOR EACH STATEMENT EXECUTE FUNCTION raise_keys_version();

SELECT share_with_nodes('keys_version', 'SELECT');
