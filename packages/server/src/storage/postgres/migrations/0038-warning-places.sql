-- Examples of where each warning came (PROTOCOL §14.2): by code, pointers, no values. With a constant for a default no row is rewritten.
-- A node of the version before names no such column, and leaves what others noted as it is.
ALTER TABLE published ADD COLUMN warning_places jsonb NOT NULL DEFAULT '{}';
