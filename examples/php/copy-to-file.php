<?php

declare(strict_types=1);

/**
 * A copy in one JSON file, checkpoint included: both are written at once, by a rename. With a database, write the rows
 * and the checkpoint in one transaction instead (docs/consuming.md).
 *
 *     FEED_URL=https://feed.example.com FEED_KEY=pev_… php copy-to-file.php properties.json
 */

require __DIR__ . '/PropertyFeed.php';

$path = $argv[1] ?? 'properties.json';
$copy = is_file($path) ? json_decode(file_get_contents($path), true, 512, JSON_THROW_ON_ERROR) : ['checkpoint' => null, 'properties' => []];

$feed = new PropertyFeed(
    getenv('FEED_URL') ?: 'http://127.0.0.1:8080',
    getenv('FEED_KEY') ?: '',
    pageSize: (int) (getenv('PAGE_SIZE') ?: 100),
);
$feed->sync(
    static fn (): ?string => $copy['checkpoint'],
    static function (array $changes, string $checkpoint, array $phase) use (&$copy, $path): void {
        if ($phase['startsOver']) {
            foreach ($copy['properties'] as &$property) {
                $property['stale'] = true;
            }
            unset($property);
        }
        foreach ($changes as $change) {
            if ($change['kind'] === 'remove') {
                unset($copy['properties'][$change['ref']]);
            } else {
                $copy['properties'][$change['ref']] = ['number' => $change['number'], 'payload' => $change['payload']];
            }
        }
        if ($phase['complete']) {
            $copy['properties'] = array_filter($copy['properties'], static fn (array $property): bool => !isset($property['stale']));
        }
        $copy['checkpoint'] = $checkpoint;
        $text = json_encode($copy, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION);
        // A full disk takes a part and throws nothing: only a whole file may take the place of the copy.
        if (file_put_contents("$path.new", $text) !== strlen($text) || !rename("$path.new", $path)) {
            throw new RuntimeException("$path could not be written; it is as it was.");
        }
    },
);
echo count($copy['properties']), " properties\n";
