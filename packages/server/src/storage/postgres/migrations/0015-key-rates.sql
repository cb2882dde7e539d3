-- Requests a second and burst of one key (D10). NULL: those of the node that serves it.
ALTER TABLE key ADD COLUMN rate_per_second integer CHECK (rate_per_second > 0),
  ADD COLUMN rate_burst integer CHECK (rate_burst > 0),
  ADD CHECK ((rate_per_second IS NULL) = (rate_burst IS NULL));
-- Clients come to the node through a proxy that it does not trust.
ALTER TABLE node ADD COLUMN ignores_proxy boolean NOT NULL DEFAULT false;
