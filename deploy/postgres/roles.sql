-- Run once by psql as a superuser, with both passwords in the environment (docs/operating/nodes-and-proxy.md). Two roles: one owns the
-- schema and is used for `migrate` alone, the other is what nodes and commands work with, and may neither change the schema nor
-- delete an event, but through the functions that delete a tenant whose deletion is on record.
\set ON_ERROR_STOP on
\getenv owner_password PROPERTY_EVENTS_OWNER_PASSWORD
\getenv node_password PROPERTY_EVENTS_NODE_PASSWORD

CREATE ROLE property_events_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE property_events_node LOGIN PASSWORD :'node_password';
CREATE DATABASE property_events OWNER property_events_owner TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';
REVOKE ALL ON DATABASE property_events FROM PUBLIC;
GRANT CONNECT ON DATABASE property_events TO property_events_node;

\connect property_events
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO property_events_node;
-- For everything that the owner creates from now on. Whoever may write to the feeds' counters is a node to `migrate`, which then leaves it
-- on each table exactly the rights that a node needs: to delete events is not among them, nor to change the audit.
ALTER DEFAULT PRIVILEGES FOR ROLE property_events_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE property_events_owner IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE ON TABLES TO property_events_node;
ALTER DEFAULT PRIVILEGES FOR ROLE property_events_owner IN SCHEMA public
  GRANT EXECUTE ON FUNCTIONS TO property_events_node;
