<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** Keeps the site's listings in step with a property event feed. */
final class Command
{
    /**
     * Brings the site up to date, in as many runs as it takes.
     *
     * ## OPTIONS
     *
     * [--once]
     * : One run of 20 seconds at most, as WP-Cron does it.
     *
     * [--no-limit]
     * : One run that takes as long as it needs: for the first read of a feed that can only be read page by page.
     *
     * [--allow-mass-removal]
     * : Removes as much as the feed says.
     *
     * ## EXAMPLES
     *
     *     wp property-events sync
     *
     * @param list<string> $words
     * @param array<string, mixed> $flags
     */
    public function sync(array $words, array $flags): void
    {
        $allow = isset($flags['allow-mass-removal']);
        do {
            // WP-CLI takes --no-limit as limit set to false.
            $isEndless = isset($flags['no-limit']) || ($flags['limit'] ?? null) === false;
            [$outcome, $message] = Run::once($isEndless ? Budget::withoutEnd() : null, $allow);
            Memory::forget();
            if ($message !== '' && in_array($outcome, [Run::CAUGHT_UP, Run::MORE], true)) {
                \WP_CLI::log($message);
            }
            if ($outcome === Run::MORE) {
                \WP_CLI::log(Status::now()->listings());
            }
        } while ($outcome === Run::MORE && !isset($flags['once']));
        match ($outcome) {
            Run::CAUGHT_UP => \WP_CLI::success('The site has what the feed has. ' . Status::now()->listings() . '.'),
            Run::MORE => \WP_CLI::log('There is work left for the next run.'),
            Run::HELD => \WP_CLI::error("$message (wp property-events sync --allow-mass-removal)"),
            default => \WP_CLI::error($message),
        };
    }

    /**
     * Says how the site stands to the feed.
     *
     * ## OPTIONS
     *
     * [--format=<format>]
     * : text or json.
     *
     * @param list<string> $words
     * @param array<string, mixed> $flags
     */
    public function status(array $words, array $flags): void
    {
        $status = Status::now();
        if (($flags['format'] ?? 'text') === 'json') {
            \WP_CLI::log((string) json_encode($status));
            return;
        }
        foreach ($status->lines() as $name => $line) {
            \WP_CLI::log("$name: $line");
        }
    }

    /**
     * Has the next run read the whole feed anew. Listings stay as they are until it has.
     *
     * ## OPTIONS
     *
     * [--rewrite]
     * : Makes every post again, after a change of the site's own rules.
     *
     * @param list<string> $words
     * @param array<string, mixed> $flags
     */
    public function resync(array $words, array $flags): void
    {
        Resync::begin(isset($flags['rewrite']))
            ? \WP_CLI::success('The next run reads the whole feed anew.')
            : \WP_CLI::error('A run is under way. Try again in a moment.');
    }

    /**
     * Lists what the site made of each listing, one JSON object a line: shown under which address, refused why, or removed.
     *
     * @param list<string> $words
     * @param array<string, mixed> $flags
     */
    public function verdicts(array $words, array $flags): void
    {
        $verdicts = new Verdicts(Store::open());
        for ($offset = 0; ($some = $verdicts->list(500, $offset)) !== []; $offset += 500) {
            foreach ($some as $verdict) {
                \WP_CLI::log((string) json_encode($verdict, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE));
            }
        }
    }

    /**
     * Tries again the pictures that were refused or could not be reached.
     *
     * @param list<string> $words
     * @param array<string, mixed> $flags
     */
    public function pictures(array $words, array $flags): void
    {
        \WP_CLI::success((new Photographs(Store::open()))->retry() . ' pictures are tried again by the next runs.');
    }
}
