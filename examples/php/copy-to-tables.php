<?php

declare(strict_types=1);

/**
 * A website's listings in tables of SQLite, MySQL or MariaDB. Run it from cron, every few minutes; or let it stay with --follow, where
 * something starts it again should it end: then the tables have each change at once.
 *
 *     PROPERTY_EVENTS_URL=https://feed.example.com PROPERTY_EVENTS_KEY=pev_… php copy-to-tables.php sqlite:website.db [--allow-mass-removal] [--follow]
 *     … DB_USER=website DB_PASSWORD=… php copy-to-tables.php 'mysql:host=localhost;dbname=website;charset=utf8mb4'
 *
 * TABLE_PREFIX=feed_ begins the name of each table.
 */

require __DIR__ . '/PropertyTables.php';

$flags = array_filter(array_slice($argv, 1), static fn (string $word): bool => str_starts_with($word, '--'));
$targets = array_values(array_diff(array_slice($argv, 1), $flags));
try {
    if (array_diff($flags, ['--allow-mass-removal', '--follow']) !== [] || count($targets) !== 1 || preg_match('/^(sqlite|mysql):./', $targets[0]) !== 1) {
        throw new InvalidArgumentException('Usage: php copy-to-tables.php sqlite:FILE|mysql:host=…;dbname=… [--allow-mass-removal] [--follow]');
    }
    [$driver] = explode(':', $targets[0]);
    if (!extension_loaded("pdo_$driver")) {
        throw new RuntimeException("This PHP has no PDO driver for $driver. On Debian: apt-get install " . ($driver === 'sqlite' ? 'php-sqlite3' : 'php-mysql'));
    }
    $tables = new PropertyTables(new PDO($targets[0], getenv('DB_USER') ?: null, getenv('DB_PASSWORD') ?: null), getenv('TABLE_PREFIX') ?: '');
    $tables->create();
    $feed = new PropertyFeed(
        getenv('PROPERTY_EVENTS_URL') ?: 'http://127.0.0.1:8080',
        getenv('PROPERTY_EVENTS_KEY') ?: throw new InvalidArgumentException('No API key is given: set PROPERTY_EVENTS_KEY.'),
        pageSize: (int) (getenv('PAGE_SIZE') ?: 100),
        attempts: (int) (getenv('ATTEMPTS') ?: 8),
        consumer: getenv('PROPERTY_EVENTS_CONSUMER') ?: null,
    );
    $allowMassRemoval = in_array('--allow-mass-removal', $flags, true);
    $told = [];
    $tell = static function () use ($feed, $tables, &$told): void {
        if ($feed->readAgain() !== '') {
            fwrite(STDERR, $feed->readAgain() . "\n");
        }
        foreach (array_diff_assoc($tables->refused, $told) as $reference => $reason) {
            fwrite(STDERR, "$reference is left as it is. $reason\n");
        }
        $told = $tables->refused;
    };
    $sync = static function (bool $allowMassRemoval, int $wait) use ($feed, $tables, $tell): void {
        try {
            $feed->sync($tables->checkpoint(...), $tables->apply(...), $tables, $allowMassRemoval, $wait);
        } finally {
            $tell();
        }
    };
    $sync($allowMassRemoval, 0);
    echo $tables->count(), " listings\n";
    while (in_array('--follow', $flags, true)) {
        // The service answers once there is something new, and after 25 seconds with nothing.
        $sync(false, 25);
    }
} catch (MassRemovalException $stopped) {
    fwrite(STDERR, "$stopped->summary
");
    fwrite(STDERR, "To allow it once: --allow-mass-removal.
");
    fwrite(STDERR, "If it is a mistake, have them published again and run this as usual.
");
    exit(1);
} catch (Exception $problem) {
    // A sentence for whoever runs it. An Error is a fault of the program, and keeps its stack.
    fwrite(STDERR, $problem->getMessage() . "\n");
    exit(1);
}
