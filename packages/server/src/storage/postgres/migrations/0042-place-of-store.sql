-- Which history this is: the cluster, the database and the table of the store, and the timeline. A dump that is restored beside the first
-- database, or into another schema of it, is in the same cluster and timeline, and would give the same numbers to other events.
CREATE FUNCTION store_place() RETURNS text LANGUAGE sql STABLE AS
$$ SELECT system_identifier || '.' || (SELECT oid FROM pg_database WHERE datname = current_database()) || '.' || 'store'::regclass::oid
   FROM pg_control_system() $$;

CREATE OR REPLACE FUNCTION incarnation() RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT store_place() || '/' || timeline() $$;

-- Where numbers were last given stays known.
UPDATE store SET incarnation = store_place() || substr(incarnation, strpos(incarnation, '/'))
  WHERE split_part(incarnation, '/', 1) = (SELECT system_identifier::text FROM pg_control_system());
