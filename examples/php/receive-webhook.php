<?php

declare(strict_types=1);

/**
 * A receiver of webhooks that takes each message as the sign to read the feed: what came twice, late or in another order changes nothing, and
 * what was missed comes with the next one. It keeps the tables of copy-to-tables.php; run that from cron beside it, once an hour.
 *
 * The server gives it WEBHOOK_SECRET, PROPERTY_EVENTS_URL, PROPERTY_EVENTS_KEY and DATABASE, such as sqlite:/var/lib/website/listings.db.
 */

require __DIR__ . '/PropertyWebhook.php';
require __DIR__ . '/PropertyTables.php';

try {
    $message = PropertyWebhook::verify((string) file_get_contents('php://input'), getallheaders(), (string) getenv('WEBHOOK_SECRET'));
    if (in_array($message->type, ['property.event', 'feed.epochChanged'], true)) {
        // One after the other: whoever waits here finds nothing new, which costs one request.
        $lock = fopen(sys_get_temp_dir() . '/receive-webhook-' . hash('xxh64', (string) getenv('DATABASE')) . '.lock', 'c');
        flock($lock, LOCK_EX);
        $tables = new PropertyTables(new PDO((string) getenv('DATABASE'), getenv('DB_USER') ?: null, getenv('DB_PASSWORD') ?: null));
        $tables->create();
        $feed = new PropertyFeed((string) getenv('PROPERTY_EVENTS_URL'), (string) getenv('PROPERTY_EVENTS_KEY'), attempts: 2);
        $feed->sync($tables->checkpoint(...), $tables->apply(...), $tables);
    }
    http_response_code(204);
} catch (InvalidWebhookException $invalid) {
    http_response_code(400);
    error_log($invalid->getMessage());
} catch (Throwable $failure) {
    // The message is sent again.
    http_response_code(500);
    error_log($failure->getMessage());
}
