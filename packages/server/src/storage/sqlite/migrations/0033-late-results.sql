-- The erasure of one event takes what was said of that version by any number: up to the property's next event. No row is changed by the step.
DROP TRIGGER erasure_takes_results;
CREATE TRIGGER erasure_takes_results AFTER INSERT ON erasure BEGIN
  DELETE FROM consumer_result
  WHERE tenant = (SELECT tenant FROM feed WHERE feed_no = NEW.feed_no AND feed = 'property') AND subject = NEW.subject;
  DELETE FROM consumer_result
  WHERE NEW.subject IS NULL AND tenant = (SELECT tenant FROM feed WHERE feed_no = NEW.feed_no AND feed = 'property')
    AND subject = (SELECT subject FROM event WHERE place = (NEW.feed_no << 40) | NEW.last_position)
    AND sequence >= (SELECT sequence FROM event WHERE place = (NEW.feed_no << 40) | NEW.last_position)
    AND sequence < coalesce((SELECT later.sequence FROM event AS later INDEXED BY event_subject
      WHERE later.feed_no = NEW.feed_no AND later.place > (NEW.feed_no << 40) | NEW.last_position
        AND later.subject = (SELECT subject FROM event WHERE place = (NEW.feed_no << 40) | NEW.last_position)
      ORDER BY later.place LIMIT 1), 1 << 53);
END;
