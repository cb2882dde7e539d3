-- Publishing to the whole store can be stopped by an operator, for planned work. NULL: it is not.
ALTER TABLE store ADD COLUMN maintenance_since timestamptz, ADD COLUMN maintenance_retry_after integer;
