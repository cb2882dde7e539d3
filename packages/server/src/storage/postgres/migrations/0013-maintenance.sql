-- Nodes are the roles that may change a feed's counter. A role with any right on it was taken for one, and a role that only reads, for
-- reports, was given the right to write whatever a migration added.
CREATE OR REPLACE FUNCTION share_with_nodes(relation regclass, privileges text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  grantee oid;
BEGIN
  FOR grantee IN
    SELECT DISTINCT granted.grantee FROM pg_class c, aclexplode(c.relacl) AS granted
    WHERE c.oid = 'feed'::regclass AND granted.grantee <> c.relowner AND granted.privilege_type = 'UPDATE'
  LOOP
    EXECUTE format('GRANT %s ON %s TO %s', privileges, relation,
      CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END);
  END LOOP;
END $$;

-- Publishing to the whole store can be stopped by an operator, for planned work. NULL: it is not.
ALTER TABLE store ADD COLUMN maintenance_since timestamptz, ADD COLUMN maintenance_retry_after integer;
