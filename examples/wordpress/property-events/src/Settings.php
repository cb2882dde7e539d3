<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** What the administrator has set. `PROPERTY_EVENTS_URL`, `PROPERTY_EVENTS_KEY` and `PROPERTY_EVENTS_WEBHOOK_SECRET` in wp-config.php come first. */
final class Settings
{
    public const OPTION = 'property_events_settings';
    public const INTERVALS = [1, 5, 15, 30, 60];

    public function __construct(
        public readonly string $url = '',
        public readonly string $key = '',
        public readonly string $postType = ListingType::NAME,
        public readonly int $intervalMinutes = 5,
        /** One, or two with a blank between them while one replaces the other; '' for none. */
        public readonly string $webhookSecret = '',
    ) {
    }

    public static function load(): self
    {
        $kept = get_option(self::OPTION, []);
        $kept = is_array($kept) ? $kept : [];
        $text = static fn (string $name, string $otherwise): string => is_string($kept[$name] ?? null) ? $kept[$name] : $otherwise;
        return new self(
            defined('PROPERTY_EVENTS_URL') ? (string) \PROPERTY_EVENTS_URL : $text('url', ''),
            defined('PROPERTY_EVENTS_KEY') ? (string) \PROPERTY_EVENTS_KEY : $text('key', ''),
            $text('post_type', ListingType::NAME),
            is_int($kept['interval_minutes'] ?? null) ? $kept['interval_minutes'] : 5,
            defined('PROPERTY_EVENTS_WEBHOOK_SECRET') ? (string) \PROPERTY_EVENTS_WEBHOOK_SECRET : $text('webhook_secret', ''),
        );
    }

    /** In one array, which no page of WordPress shows, and not loaded with every page. What wp-config.php sets is not kept twice. */
    public function save(): void
    {
        update_option(self::OPTION, [
            'url' => defined('PROPERTY_EVENTS_URL') ? '' : $this->url,
            'key' => defined('PROPERTY_EVENTS_KEY') ? '' : $this->key,
            'post_type' => $this->postType,
            'interval_minutes' => $this->intervalMinutes,
            'webhook_secret' => defined('PROPERTY_EVENTS_WEBHOOK_SECRET') ? '' : $this->webhookSecret,
        ], false);
    }

    public function areComplete(): bool
    {
        return $this->url !== '' && $this->key !== '';
    }

    /** @return list<string> those that are none are left out, such as a misspelt one of wp-config.php */
    public function webhookSecrets(): array
    {
        return array_values(array_filter(preg_split('/\s+/', $this->webhookSecret) ?: [], self::isSecret(...)));
    }

    private static function isSecret(string $text): bool
    {
        return preg_match('~^whsec_([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)\z~', $text) === 1;
    }

    /**
     * What was sent from the form, and what is wrong with it. An empty key or secret means the one that is kept; "off" forgets the secret.
     *
     * @param array<string, mixed> $sent
     * @param list<string> $postTypes that may be chosen
     * @return array{self, list<string>}
     */
    public static function fromForm(array $sent, self $kept, array $postTypes): array
    {
        $text = static fn (string $name): string => is_string($sent[$name] ?? null) ? trim($sent[$name]) : '';
        // What wp-config.php sets is no field of the form.
        $url = defined('PROPERTY_EVENTS_URL') ? $kept->url : rtrim($text('url'), '/');
        $key = defined('PROPERTY_EVENTS_KEY') || $text('key') === '' ? $kept->key : $text('key');
        $interval = (int) $text('interval_minutes');
        $secret = match (true) {
            defined('PROPERTY_EVENTS_WEBHOOK_SECRET') || $text('webhook_secret') === '' => $kept->webhookSecret,
            $text('webhook_secret') === 'off' => '',
            default => $text('webhook_secret'),
        };
        $faults = array_filter([
            self::addressFault($url),
            preg_match('/^[\x21-\x7e]{1,500}\z/', $key) === 1 ? null
                : __('The key must be as it was given to you: not empty, no blanks, no line breaks.', 'property-events'),
            in_array($text('post_type'), $postTypes, true) ? null : __('Choose one of the kinds of posts in the list.', 'property-events'),
            in_array($interval, self::INTERVALS, true) ? null : __('Choose one of the intervals in the list.', 'property-events'),
            $secret === '' || array_filter(preg_split('/\s+/', $secret) ?: [], static fn (string $one): bool => !self::isSecret($one)) === [] ? null
                : __('The secret of webhooks must be as it was shown: whsec_ and what follows. Two have a blank between them.', 'property-events'),
        ]);
        return [new self($url, $key, $text('post_type'), $interval, $secret), array_values($faults)];
    }

    /** A key goes over TLS only, or does not leave the machine. */
    public static function addressFault(string $url): ?string
    {
        $parts = parse_url($url);
        $isAddress = is_array($parts) && isset($parts['scheme'], $parts['host'])
            && preg_match('~^https?://[^\s<>"\'\\\\]+\z~', $url) === 1 && !isset($parts['query']) && !isset($parts['fragment']);
        if (!$isAddress) {
            return __('The address must begin with https:// and have no blanks, no "?" and no "#".', 'property-events');
        }
        if (isset($parts['user'])) {
            return __('The address must have no user name and no password in it.', 'property-events');
        }
        if ($parts['scheme'] === 'http' && !in_array($parts['host'], ['localhost', '127.0.0.1', '[::1]'], true)) {
            return __('The address must begin with https://, because the key is sent to it.', 'property-events');
        }
        return null;
    }
}
