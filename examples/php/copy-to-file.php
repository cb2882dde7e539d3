<?php

declare(strict_types=1);

/**
 * A copy in one JSON file, checkpoint included: both are written at once, by a rename. With a database, write the rows
 * and the checkpoint in one transaction instead (docs/consuming.md). With --follow it stays, and has each change at once.
 *
 *     PROPERTY_EVENTS_URL=https://feed.example.com PROPERTY_EVENTS_KEY=pev_… php copy-to-file.php properties.json [--allow-mass-removal] [--follow]
 */

require __DIR__ . '/PropertyFeed.php';

final class FileCopy implements PropertyCopy
{
    /** @var array{checkpoint: string|null, properties: array<string, array<string, mixed>>} */
    private array $content = ['checkpoint' => null, 'properties' => []];

    public function __construct(private readonly string $path)
    {
        if (!file_exists($path)) {
            return;
        }
        $content = json_decode((string) @file_get_contents($path), true);
        if (!is_array($content) || !is_array($content['properties'] ?? null) || !is_string($content['checkpoint'] ?? null)) {
            throw new RuntimeException("$path cannot be read, or is not a copy of this program. Name another file, or move it away.");
        }
        $this->content = $content;
    }

    public function checkpoint(): ?string
    {
        return $this->content['checkpoint'];
    }

    public function apply(array $changes, string $checkpoint, array $phase): void
    {
        $properties = $this->content['properties'];
        if ($phase['startsOver']) {
            $properties = array_map(static fn (array $property): array => ['stale' => true] + $property, $properties);
        }
        foreach ($changes as $change) {
            if ($change['kind'] === 'remove') {
                unset($properties[$change['ref']]);
            } elseif ($change['kind'] === 'odd') {
                // What the copy has of it stays.
                unset($properties[$change['ref']]['stale']);
                fwrite(STDERR, "{$change['ref']} is left as it is: {$change['reason']}\n");
            } else {
                $properties[$change['ref']] = ['number' => $change['number'], 'payload' => $change['payload']];
            }
        }
        if ($phase['complete']) {
            $properties = array_filter($properties, static fn (array $property): bool => !isset($property['stale']));
        }
        $content = ['checkpoint' => $checkpoint, 'properties' => $properties];
        $text = json_encode($content, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION);
        // A full disk takes a part and throws nothing: only a whole file may take the place of the copy.
        if (@file_put_contents("$this->path.new", $text) !== strlen($text) || !@rename("$this->path.new", $this->path)) {
            $reason = preg_replace('~^.*: ~', '', error_get_last()['message'] ?? 'is there room?');
            throw new RuntimeException("$this->path could not be written ($reason); it is as it was.");
        }
        $this->content = $content;
    }

    public function count(): int
    {
        return count($this->content['properties']);
    }

    public function held(array $refs): array
    {
        return array_values(array_filter($refs, fn (string $ref): bool => isset($this->content['properties'][$ref])));
    }

    public function stale(): array
    {
        $stale = array_filter($this->content['properties'], static fn (array $property): bool => isset($property['stale']));
        return array_map(strval(...), array_keys($stale));
    }
}

$flags = array_filter(array_slice($argv, 1), static fn (string $word): bool => str_starts_with($word, '--'));
$paths = array_values(array_diff(array_slice($argv, 1), $flags));
try {
    if (array_diff($flags, ['--allow-mass-removal', '--follow']) !== [] || count($paths) > 1) {
        throw new InvalidArgumentException('Usage: php copy-to-file.php [properties.json] [--allow-mass-removal] [--follow]');
    }
    $copy = new FileCopy($paths[0] ?? 'properties.json');
    $feed = new PropertyFeed(
        getenv('PROPERTY_EVENTS_URL') ?: 'http://127.0.0.1:8080',
        getenv('PROPERTY_EVENTS_KEY') ?: throw new InvalidArgumentException('No API key is given: set PROPERTY_EVENTS_KEY.'),
        pageSize: (int) (getenv('PAGE_SIZE') ?: 100),
        attempts: (int) (getenv('ATTEMPTS') ?: 8),
        consumer: getenv('PROPERTY_EVENTS_CONSUMER') ?: null,
    );
    $allowMassRemoval = in_array('--allow-mass-removal', $flags, true);
    $sync = static function (bool $allowMassRemoval, int $wait) use ($feed, $copy): void {
        try {
            $feed->sync($copy->checkpoint(...), $copy->apply(...), $copy, $allowMassRemoval, $wait);
        } finally {
            if ($feed->readAgain() !== '') {
                fwrite(STDERR, $feed->readAgain() . "\n");
            }
        }
    };
    $sync($allowMassRemoval, 0);
    echo $copy->count(), " properties\n";
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
