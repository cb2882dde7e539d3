-- Those that are there already count from now on. Only an event that several ids stand for can have one. The plans that
-- suit appends would look through the ids once for each of these events.
SET LOCAL enable_hashjoin = on;
SET LOCAL enable_seqscan = on;
UPDATE event_id i SET skipped = (SELECT now_ticks())
FROM (SELECT tenant, feed, position FROM event_id GROUP BY tenant, feed, position HAVING count(*) > 1) AS several,
  event e
WHERE i.tenant = several.tenant AND i.feed = several.feed AND i.position = several.position
  AND e.tenant = several.tenant AND e.feed = several.feed AND e.position = several.position AND e.id <> i.id
  AND i.skipped IS NULL;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_seqscan = off;
