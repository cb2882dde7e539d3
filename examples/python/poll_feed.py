"""Keeps the properties of a feed in a table of SQLite. Python 3.9 or later, standard library only.

    PROPERTY_EVENTS_URL=https://feed.example.com PROPERTY_EVENTS_KEY=pev_... python3 poll_feed.py properties.db

With --once it ends when the table is up to date. Without, it keeps running: the service holds each request until there is
something new, so a change is in the table within moments. It can be killed at any time: rows and position are one transaction.
"""

import json
import os
import signal
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

WAIT_SECONDS = 25  # how long the service may hold a request
LONGEST_PAUSE_SECONDS = 60


def open_copy(path):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(
        "CREATE TABLE IF NOT EXISTS property "
        "(agent_ref TEXT PRIMARY KEY, sequence_number INTEGER NOT NULL, epoch TEXT NOT NULL, payload TEXT NOT NULL)"
    )
    db.execute("CREATE TABLE IF NOT EXISTS position (next INTEGER NOT NULL, epoch TEXT NOT NULL)")
    return db


def position_of(db):
    """Where the copy is: the number to continue after, and the epoch of the numbers. A new copy begins before the first event."""
    return db.execute("SELECT next, epoch FROM position").fetchone() or (0, "")


def apply(db, answer):
    """One answer of the service: all its events and the new position, or none of them."""
    epoch = answer["epoch"]
    db.execute("BEGIN IMMEDIATE")
    try:
        for event in answer["items"]:
            apply_event(db, event, epoch)
        if answer["next"] >= answer["head"]:
            # Rows of an earlier epoch that a whole reading of the feed has not found again.
            db.execute("DELETE FROM property WHERE epoch <> ?", (epoch,))
        db.execute("DELETE FROM position")
        db.execute("INSERT INTO position VALUES (?, ?)", (answer["next"], epoch))
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def apply_event(db, event, epoch):
    """Only the highest number of a property counts; these come in ascending order."""
    number, removed = event["sequenceNumber"], event["eventTypeShortCode"] == "PropertyUnpublished"
    try:
        payload = json.loads(event["payload"])
        reference = payload["agent_ref"].lower()
    except (ValueError, TypeError, KeyError, AttributeError):
        print(f"event {number} cannot be read, and is left out", file=sys.stderr)
        return
    if removed:
        db.execute("DELETE FROM property WHERE agent_ref = ?", (reference,))
    elif payload.get("thinned") or payload.get("erased"):
        return  # superseded: a later event of the property follows
    elif payload.get("published") is False:
        db.execute("DELETE FROM property WHERE agent_ref = ?", (reference,))
    else:
        db.execute("REPLACE INTO property VALUES (?, ?, ?, ?)", (reference, number, epoch, event["payload"]))


def read_after(url, key, after, epoch, wait):
    query = {"after": after}
    if wait:
        query["wait"] = WAIT_SECONDS
    if epoch:
        query["epoch"] = epoch
    address = f"{url.rstrip('/')}/v1/property-events?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(address, headers={"x-api-key": key})
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS + 30) as answer:
        return json.load(answer)


def follow(url, key, db, once):
    pause = 1
    while True:
        after, epoch = position_of(db)
        try:
            answer = read_after(url, key, after, epoch, wait=not once)
        except urllib.error.HTTPError as error:
            problem = problem_in(error)
            if error.code == 409:
                # The service was restored, and numbers mean other events: read all of it again. Rows stay until then.
                print(f"reading the whole feed again: {problem}", file=sys.stderr)
                db.execute("UPDATE position SET next = 0, epoch = ''")
                continue
            if error.code != 429 and error.code < 500:
                sys.exit(f"{error.code}: {problem}")
            pause = wait_a_while(problem, error.headers.get("retry-after"), pause)
            continue
        except (OSError, ValueError) as error:
            pause = wait_a_while(f"the service does not answer ({error})", None, pause)
            continue
        pause = 1
        apply(db, answer)
        if once and answer["next"] >= answer["head"]:
            return


def problem_in(error):
    try:
        return json.load(error)["detail"]
    except (OSError, ValueError, TypeError, KeyError):
        return error.reason


def wait_a_while(why, retry_after, pause):
    seconds = int(retry_after) if (retry_after or "").isdigit() else pause
    print(f"{why}; trying again in {seconds} s", file=sys.stderr)
    time.sleep(seconds)
    return min(pause * 2, LONGEST_PAUSE_SECONDS)


def main(arguments):
    once = "--once" in arguments
    paths = [word for word in arguments if not word.startswith("--")]
    url, key = os.environ.get("PROPERTY_EVENTS_URL"), os.environ.get("PROPERTY_EVENTS_KEY")
    if len(paths) != 1 or not url or not key:
        sys.exit(__doc__)
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: sys.exit(0))
    db = open_copy(paths[0])
    follow(url, key, db, once)
    count = db.execute("SELECT count(*) FROM property").fetchone()[0]
    print(f"the copy holds {count}")


if __name__ == "__main__":
    main(sys.argv[1:])
