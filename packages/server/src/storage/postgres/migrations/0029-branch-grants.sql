-- Grants by branch (D11). Noted in the catalogue alone: the table is locked for a moment, however many keys there are. Nodes of the version
-- before find no scope that they know in a limited grant, and refuse its key.
ALTER TABLE key_grant ADD COLUMN branches text; -- a JSON list of `branch_id`s that the grant is limited to; NULL: all. Then `scopes` has marked words
