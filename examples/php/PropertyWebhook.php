<?php

declare(strict_types=1);

/** A request that must not be used: answer it with 400, and keep nothing of it. */
final class InvalidWebhookException extends RuntimeException
{
}

/**
 * A message that was signed by a sender who knows the secret, by the rules of Standard Webhooks. PHP 8.1 or later; this file alone.
 *
 *     $message = PropertyWebhook::verify(file_get_contents('php://input'), getallheaders(), getenv('WEBHOOK_SECRET'));
 *     if ($message->type === 'property.event') { … $message->data['event'] … }
 *
 * A message comes at least once: compare the `sequenceNumber` of its event with what you have of the property, or take it only as the
 * sign to read the feed (receive-webhook.php).
 */
final class PropertyWebhook
{
    /** How many signatures are looked at: each costs an HMAC of the body. */
    private const SIGNATURES_AT_MOST = 10;

    private function __construct(
        /** The same each time this message is sent. */
        public readonly string $id,
        /** What it is, such as property.event. Answer one that you do not know with 2xx too. */
        public readonly string $type,
        public readonly mixed $data,
    ) {
    }

    /**
     * @param string $body the bytes of the request as they came
     * @param array<string, mixed> $headers of the request, in any case
     * @param string|list<string> $secrets whsec_…, as shown once; two while one replaces the other
     * @param int $tolerance how many seconds old, or ahead, the time of a request may be
     * @param int|null $now seconds since 1970, in place of this machine's clock
     * @throws InvalidWebhookException when it is not signed with one of the secrets, too old or from the future, or no message
     * @throws InvalidArgumentException when a secret is none
     */
    public static function verify(
        string $body,
        array $headers,
        string|array $secrets,
        int $tolerance = 300,
        ?int $now = null,
    ): self {
        $headers = array_change_key_case($headers);
        $id = self::header($headers, 'webhook-id');
        $time = self::header($headers, 'webhook-timestamp');
        if (preg_match('/^\d{1,12}$/D', $time) !== 1) {
            throw new InvalidWebhookException('The header webhook-timestamp is not a time in seconds.');
        }
        $age = ($now ?? time()) - (int) $time;
        if (abs($age) > $tolerance) {
            throw new InvalidWebhookException(sprintf(
                'The request was signed %d s %s, and %d s are allowed. Is the clock of this machine right?',
                abs($age),
                $age > 0 ? 'ago' : 'in the future',
                $tolerance,
            ));
        }
        $given = explode(' ', self::header($headers, 'webhook-signature'));
        if (!self::matches((array) $secrets, array_slice($given, 0, self::SIGNATURES_AT_MOST), "$id.$time.$body")) {
            throw new InvalidWebhookException('No signature of the request was made with one of the secrets.');
        }
        $message = json_decode($body, true, 64);
        if (!is_array($message) || !is_string($message['type'] ?? null)) {
            throw new InvalidWebhookException('The body is signed, and is no message with a "type".');
        }
        return new self($id, $message['type'], $message['data'] ?? null);
    }

    /** @param array<string, mixed> $headers */
    private static function header(array $headers, string $name): string
    {
        $value = $headers[$name] ?? null;
        if (!is_string($value) || $value === '') {
            throw new InvalidWebhookException("The request has no header $name.");
        }
        return $value;
    }

    /**
     * @param array<string> $secrets
     * @param list<string> $given
     */
    private static function matches(array $secrets, array $given, string $signed): bool
    {
        $isMatch = false;
        foreach ($secrets as $secret) {
            $key = str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, 6), true) : false;
            if ($key === false || $key === '') {
                throw new InvalidArgumentException('A secret begins with whsec_ and goes on in base64, as it was shown.');
            }
            $made = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
            foreach ($given as $signature) {
                $isMatch = hash_equals($made, $signature) || $isMatch;
            }
        }
        return $isMatch;
    }
}
