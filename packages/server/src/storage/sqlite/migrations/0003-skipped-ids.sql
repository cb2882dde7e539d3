-- When an id was taken that has no event of its own: it came with an unchanged payload and is kept for 30 days.
-- NULL: the id of an event, which is kept for ever.
ALTER TABLE event_id ADD COLUMN skipped INTEGER; -- ticks

-- Those that are there already count from now on. Only an event that several ids stand for can have one.
UPDATE event_id SET skipped = unixepoch() * 10000000
WHERE (feed_no, position) IN (SELECT feed_no, position FROM event_id GROUP BY feed_no, position HAVING count(*) > 1)
  AND id <> (SELECT event.id FROM event WHERE event.place = (event_id.feed_no << 40) | event_id.position);

-- Holds only such ids, so that finding the oldest costs nothing however many events there are.
CREATE INDEX event_id_skipped ON event_id (skipped) WHERE skipped IS NOT NULL;
