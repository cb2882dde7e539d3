-- Requests a second and burst of one key (D10). NULL, both: those of the process that serves it.
ALTER TABLE key ADD COLUMN rate_per_second INTEGER CHECK (rate_per_second > 0);
ALTER TABLE key ADD COLUMN rate_burst INTEGER CHECK (rate_burst > 0);
-- 1: clients come through a proxy that the process does not trust.
ALTER TABLE node ADD COLUMN ignores_proxy INTEGER NOT NULL DEFAULT 0;
