<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** How the site stands to the feed. */
final class Status
{
    private function __construct(
        public readonly string $outcome,
        public readonly string $message,
        public readonly int $ranAt,
        public readonly int $caughtUpAt,
        public readonly bool $isReadAnew,
        public readonly ?int $number,
        public readonly int $shown,
        public readonly int $pending,
        public readonly int $drafts,
        public readonly int $refused,
        public readonly int $picturesKept,
        public readonly int $picturesWanted,
        public readonly int $picturesRefused,
    ) {
    }

    public static function now(): self
    {
        $store = Store::open();
        $state = $store->state();
        $listings = $store->row(
            "SELECT coalesce(sum(shown), 0) AS shown, coalesce(sum(pending), 0) AS pending,
                coalesce(sum(removed_at > 0 AND post_id > 0), 0) AS drafts, coalesce(sum(verdict = 'refused'), 0) AS refused
            FROM {$store->table('listings')}",
        ) ?? [];
        $pictures = array_column($store->rows("SELECT state, count(*) AS pictures FROM {$store->table('images')} GROUP BY state"), 'pictures', 'state');
        $place = json_decode($state['checkpoint'], true);
        return new self(
            $state['outcome'],
            $state['message'],
            (int) $state['ran_at'],
            (int) $state['caught_up_at'],
            $state['whole_since'] !== '0',
            is_int($place['after'] ?? null) ? $place['after'] : null,
            (int) $listings['shown'],
            (int) $listings['pending'],
            (int) $listings['drafts'],
            (int) $listings['refused'],
            (int) ($pictures['kept'] ?? 0),
            (int) ($pictures['wanted'] ?? 0),
            (int) ($pictures['refused'] ?? 0),
        );
    }

    /** @return array<string, string> what a person reads */
    public function lines(): array
    {
        $outcome = match ($this->outcome) {
            '' => 'No run yet.',
            Run::CAUGHT_UP => 'The site has what the feed has.',
            Run::MORE => 'There is work left; the next run goes on.',
            default => $this->message,
        };
        $refused = $this->refused === 0 ? '' : ", $this->refused refused (wp property-events verdicts)";
        $lines = [
            'Last run' => self::when($this->ranAt) . ($this->ranAt === 0 ? '' : ". $outcome"),
            'In step with the feed' => $this->isReadAnew ? 'The whole feed is being read.' : self::when($this->caughtUpAt),
            'Listings' => "$this->shown shown, $this->pending to be made, $this->drafts removed and kept as drafts$refused",
            'Pictures' => "$this->picturesKept kept, $this->picturesWanted to be downloaded, $this->picturesRefused refused",
        ];
        return $this->number === null ? $lines : $lines + ['Place in the feed' => "after event $this->number"];
    }

    private static function when(int $at): string
    {
        return $at === 0 ? 'Never' : wp_date('j F Y, H:i:s', $at);
    }
}
