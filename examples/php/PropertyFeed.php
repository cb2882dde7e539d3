<?php

declare(strict_types=1);

/**
 * Keeps a copy of a property event feed: one file, PHP 8.1 or later, no extension and no package needed.
 *
 * It keeps rule 1 of the contract (of each property only the event with the highest sequenceNumber counts), resumes from
 * its checkpoint, and works with a Property Events service and with any other server that speaks the contract. Where the
 * service has reads of its own (PROTOCOL.md, section 11) it uses those; else it walks the pages.
 *
 *     $feed = new PropertyFeed('https://feed.example.com', $key);
 *     $feed->sync($load, $apply);
 *
 * $load(): ?string gives back the checkpoint that was kept last, or null.
 *
 * $apply(array $changes, string $checkpoint, array $phase): void puts changes into the copy and keeps the checkpoint, BOTH
 * IN ONE TRANSACTION. Each change is ['kind' => 'upsert' | 'remove', 'ref', 'number', 'payload' (array), 'event'], at most
 * one for each property. $phase['startsOver']: the whole feed is read from here on, mark all rows as stale (an upsert makes
 * a row fresh). $phase['complete']: the whole feed has been read, remove the rows that are still stale.
 */
final class PropertyFeed
{
    private const FORMAT = 'property-feed-php/1';
    private const ATTEMPTS = 8;
    private const BATCH = 500;
    /** Answers that may be better another time. */
    private const PASSING = [0, 408, 425, 429, 500, 502, 503, 504];

    /** @var array<string, mixed> */
    private array $state = [];
    /** @var array<string, array<string, mixed>> the latest event of each property, not yet applied */
    private array $gathered = [];

    /**
     * @param string $apiEventType property, salesproperty or lettingsproperty; belongs to the checkpoint
     * @param int $overlapSeconds for plain servers: how much older than the newest event a new one may be when it appears
     */
    public function __construct(
        private readonly string $baseUrl,
        private readonly string $key,
        private readonly string $apiEventType = 'property',
        private readonly int $overlapSeconds = 3600,
        private readonly int $pageSize = 100,
        private readonly int $timeoutSeconds = 30,
    ) {
        if (!preg_match('~^https?://~', $baseUrl) || !preg_match('/^[\x21-\x7e]+$/', $key)) {
            throw new InvalidArgumentException('The base URL must begin with https:// and the key must have no blanks.');
        }
    }

    /** Reads what the copy lacks. Throws RuntimeException when the feed cannot be read; what was applied stays. */
    public function sync(callable $load, callable $apply): void
    {
        $this->gathered = [];
        $this->state = [];
        $this->state = $this->readCheckpoint($load());
        for ($resyncs = 0; $resyncs < 4; $resyncs++) {
            $again = $this->hasOwnReads() ? $this->readNumbers($apply) : $this->walkPages($apply);
            if (!$again) {
                return;
            }
            $this->gathered = [];
            $this->state = $this->freshState();
        }
        throw new RuntimeException('The feed began anew again and again while it was read.');
    }

    /** @return array<string, mixed> */
    private function freshState(): array
    {
        return ['format' => self::FORMAT, 'type' => $this->apiEventType, 'mode' => 'start', 'opens' => true, 'whole' => true,
            'tenant' => $this->state['tenant'] ?? null];
    }

    /** @return array<string, mixed> */
    private function readCheckpoint(?string $text): array
    {
        if ($text === null || $text === '') {
            return $this->freshState();
        }
        $state = json_decode($text, true);
        if (!is_array($state) || ($state['format'] ?? null) !== self::FORMAT) {
            throw new RuntimeException('What was kept is not a checkpoint of this version.');
        }
        if ($state['type'] !== $this->apiEventType) {
            throw new RuntimeException("The checkpoint belongs to {$state['type']}, not to {$this->apiEventType}.");
        }
        return $state;
    }

    private function hasOwnReads(): bool
    {
        if ($this->state['mode'] === 'numbers') {
            return true;
        }
        [$status, $body] = $this->request('/v1/heads', []);
        $heads = json_decode($body, true)['heads'] ?? null;
        $has = $status === 200 && is_array($heads);
        $tenant = $has ? (array_column($heads, 'tenantId', 'feed')['property'] ?? null) : null;
        if ($tenant !== null && $tenant !== ($this->state['tenant'] ?? $tenant)) {
            throw new RuntimeException("The checkpoint belongs to tenant {$this->state['tenant']}, the key reads tenant $tenant.");
        }
        if ($has !== ($this->state['mode'] !== 'pages') && $this->state['mode'] !== 'start') {
            $this->state = $this->freshState();
        }
        $this->state['tenant'] ??= $tenant;
        return $has;
    }

    /** A snapshot, if the copy is new, and then what came after it. True: begin anew. */
    private function readNumbers(callable $apply): bool
    {
        if ($this->state['mode'] !== 'numbers') {
            $this->readSnapshot($apply);
        }
        while (true) {
            $query = ['after' => $this->state['after'], 'epoch' => $this->state['epoch'], 'apiEventType' => $this->apiEventType];
            [$status, $body] = $this->request('/v1/property-events', $query);
            if ($status === 409 || $status === 404) {
                return true;
            }
            $run = $this->decoded($status, $body, 'items');
            if ($run['epoch'] !== $this->state['epoch'] || $run['revision'] !== $this->state['revision']) {
                return true;
            }
            $before = $this->state['after'];
            $isRepeated = $run['items'] !== [] && min(array_column($run['items'], 'sequenceNumber')) <= $before;
            if ($isRepeated || ($run['next'] <= $before && $run['next'] < $run['head'])) {
                // Applied, it could put an older event over a newer one; followed, it would be asked for for ever.
                throw new RuntimeException("Asked for events behind $before, the service gave others or none. Is there a cache before it?");
            }
            array_map([$this, 'gather'], $run['items']);
            $this->state['after'] = max($before, $run['next']);
            if ($run['next'] >= $run['head']) {
                $this->finish($apply, $this->state['after'] !== $before);
                return false;
            }
            $this->flushIfFull($apply);
        }
    }

    private function readSnapshot(callable $apply): void
    {
        $this->state = $this->freshState();
        $place = [];
        for ($attempt = 1; ; $attempt++) {
            $stream = $this->open('/v1/property-events/snapshot', $place + ['apiEventType' => $this->apiEventType], $status, $headers);
            if ($stream !== null && $status === 200) {
                if ($place === []) {
                    $place = ['after' => 0, 'head' => (int) $headers['x-feed-head'], 'epoch' => $headers['x-feed-epoch']];
                    $revision = (int) $headers['x-feed-revision'];
                }
                while (($line = fgets($stream)) !== false && str_ends_with($line, "\n")) {
                    $event = json_decode($line, true);
                    if (($event['end'] ?? false) === true) {
                        fclose($stream);
                        $this->state = ['mode' => 'numbers', 'epoch' => $place['epoch'], 'revision' => $revision, 'after' => $place['head']] + $this->state;
                        return;
                    }
                    if (!is_array($event)) {
                        break;
                    }
                    $this->gather($event);
                    $place['after'] = $event['sequenceNumber'];
                    $attempt = 1;
                    // The checkpoint stays at the start until the snapshot is whole: a crash begins it again.
                    $this->flushIfFull($apply);
                }
            } elseif (!in_array($status, self::PASSING, true)) {
                throw new RuntimeException("The snapshot was answered with status $status.");
            }
            if ($stream !== null) {
                fclose($stream);
            }
            $this->waitBefore($attempt + 1, $headers, 'The snapshot was cut off.');
        }
    }

    /** Page after page of the whole feed, later of a window of time. True: begin anew. */
    private function walkPages(callable $apply): bool
    {
        if ($this->state['mode'] !== 'pages') {
            $this->state = ['mode' => 'pages', 'from' => null, 'page' => 1, 'applied' => [], 'newest' => null] + $this->freshState();
        }
        $walk = ['available' => 0, 'started' => $this->state['newest'][1] ?? null, 'newest' => $this->state['newest'], 'saw' => false];
        [$furthest, $falls] = [0, 0];
        // A walk is always begun at page 1: what changed since the last run may stand before the page it had come to.
        for ($page = 1; ; ) {
            $answer = $this->page($page);
            $vanished = $page === 1 ? 0 : $walk['available'] - $answer['availableCount'];
            if ($vanished > 0) {
                $falls++;
                $this->waitBefore($falls + 1, [], "The list's availableCount keeps falling, at page $page by $vanished.");
                if ($falls % 3 !== 0) {
                    // Perhaps a node that lags behind the others: a fall is believed when it stays.
                    continue;
                }
            } elseif ($page > $furthest) {
                [$furthest, $falls] = [$page, 0];
            }
            $events = $answer['items'];
            if ($page < $answer['totalPages'] && ($events === [] || ($page === 1 && $this->state['from'] === null))) {
                // Where the newest events stand depends on the server's order: the first page or the last.
                // Beside an empty page the last one tells a gap from a total that says too much.
                $events = array_merge($events, $this->page($answer['totalPages'])['items']);
            }
            foreach ($events as $event) {
                $this->gather($event);
                $walk['saw'] = $walk['saw'] || $event['id'] === ($this->state['newest'][0] ?? null);
                if ($walk['newest'] === null || $event['createdDate'] >= $walk['newest'][1]) {
                    $walk['newest'] = [$event['id'], $event['createdDate']];
                }
            }
            if ($page === 1) {
                $walk['started'] = max($walk['started'] ?? '', ...array_column($events, 'createdDate') ?: ['']);
            }
            $walk['available'] = $answer['availableCount'];
            if ($vanished > 0) {
                $page = max(1, $page - (int) ceil($vanished / max(1, $answer['pageSize'])));
            } elseif ($events === [] || $page >= $answer['totalPages']) {
                break;
            } else {
                $page++;
            }
            $this->flushIfFull($apply);
        }
        if ($this->state['newest'] !== null && !$walk['saw']) {
            return true;
        }
        $moved = $walk['newest'] !== $this->state['newest'];
        $this->state['newest'] = $walk['newest'];
        if ($walk['started'] !== '') {
            $this->state['from'] = $this->bound($walk['started'], $this->overlapSeconds);
            $forget = str_replace(' ', 'T', $this->bound($walk['started'], 2 * $this->overlapSeconds));
        }
        $this->finish($apply, $moved, $forget ?? '');
        return false;
    }

    /** @return array<string, mixed> */
    private function page(int $page): array
    {
        $query = ['apiEventType' => $this->apiEventType, 'page' => $page, 'pageSize' => $this->pageSize];
        if ($this->state['from'] !== null) {
            $query['from'] = $this->state['from'];
        }
        [$status, $body] = $this->request('/api/func/api/v1/events/getevents', $query);
        return $this->decoded($status, $body, 'items');
    }

    /** Keeps the latest event of each property, unless the copy has it or a later one. @param array<string, mixed> $event */
    private function gather(array $event): void
    {
        $payload = json_decode((string) $event['payload'], true);
        $ref = strtolower((string) ($payload['agent_ref'] ?? $event['transactionId']));
        $number = $event['sequenceNumber'];
        if ($number <= ($this->state['applied'][$ref][0] ?? -1) || $number <= ($this->gathered[$ref]['number'] ?? -1)) {
            return;
        }
        $this->gathered[$ref] = ['kind' => $this->isRemoval($event, $payload) ? 'remove' : 'upsert', 'ref' => $ref,
            'number' => $number, 'payload' => is_array($payload) ? $payload : [], 'event' => $event];
    }

    /** @param array<string, mixed> $event */
    private function isRemoval(array $event, mixed $payload): bool
    {
        if (!is_array($payload) || $event['eventTypeShortCode'] === 'PropertyUnpublished' || ($payload['erased'] ?? false) === true) {
            return true;
        }
        if (in_array($event['eventTypeShortCode'], ['PropertyPublished', 'PropertyUpdated'], true)) {
            return false;
        }
        $published = $payload['published'] ?? null;
        return $published === false || ($published === null && $event['eventType'] === 1);
    }

    private function flushIfFull(callable $apply): void
    {
        if (count($this->gathered) >= max(self::BATCH, intdiv(count($this->state['applied'] ?? []), 8))) {
            $this->applyGathered($apply, false);
        }
    }

    private function finish(callable $apply, bool $moved, string $forgetBefore = ''): void
    {
        if ($this->gathered === [] && !$moved && !$this->state['whole']) {
            return;
        }
        $this->applyGathered($apply, $this->state['whole'], $forgetBefore);
    }

    private function applyGathered(callable $apply, bool $complete, string $forgetBefore = ''): void
    {
        $changes = array_values($this->gathered);
        usort($changes, static fn (array $one, array $other): int => $one['number'] <=> $other['number']);
        if ($this->state['mode'] === 'pages') {
            foreach ($changes as $change) {
                $this->state['applied'][$change['ref']] = [$change['number'], $change['event']['createdDate']];
            }
            $this->state['applied'] = array_filter($this->state['applied'], static fn (array $entry): bool => $entry[1] >= $forgetBefore);
        }
        $phase = ['startsOver' => $this->state['opens'], 'complete' => $complete];
        $this->state['opens'] = false;
        $this->state['whole'] = $this->state['whole'] && !$complete;
        // In the middle of a snapshot the place is not kept, so its first batch must be able to come again.
        $kept = $this->state['mode'] === 'start' ? $this->freshState() : $this->state;
        $apply($changes, json_encode($kept, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION), $phase);
        $this->gathered = [];
    }

    private function bound(string $createdDate, int $secondsBefore): string
    {
        $time = new DateTimeImmutable(substr($createdDate, 0, 22), new DateTimeZone('UTC'));
        return substr($time->modify("-$secondsBefore seconds")->format('Y-m-d H:i:s.u'), 0, 22);
    }

    /** @return array<string, mixed> */
    private function decoded(int $status, string $body, string $member): array
    {
        $value = json_decode($body, true);
        if ($status === 200 && is_array($value[$member] ?? null)) {
            return $value;
        }
        $detail = is_array($value) ? ($value['detail'] ?? '') : '';
        throw new RuntimeException("The feed was answered with status $status. $detail");
    }

    /**
     * One request, made again while that may help. A 200 that is not whole JSON counts as cut off.
     *
     * @param array<string, int|string> $query
     * @return array{int, string}
     */
    private function request(string $path, array $query): array
    {
        for ($attempt = 1; ; $attempt++) {
            $stream = $this->open($path, $query, $status, $headers);
            $body = $stream === null ? '' : (string) stream_get_contents($stream);
            if ($stream !== null) {
                fclose($stream);
            }
            $isWhole = strlen($body) === (int) ($headers['content-length'] ?? strlen($body));
            $isCut = $status === 200 && (!$isWhole || (json_decode($body) === null && str_starts_with(ltrim($body), '{')));
            // What a 409 means stands in its body.
            $isCut = $isCut || ($status === 409 && json_decode($body) === null);
            if (!$isCut && !in_array($status, self::PASSING, true)) {
                return [$status, $body];
            }
            $this->waitBefore($attempt + 1, $headers, "$path was answered with status $status" . ($isCut ? ', cut off.' : '.'));
        }
    }

    /**
     * @param array<string, int|string> $query
     * @param array<string, string>|null $headers in lower case
     * @return resource|null
     */
    private function open(string $path, array $query, ?int &$status, ?array &$headers)
    {
        $context = stream_context_create(['http' => ['header' => ["x-api-key: {$this->key}", 'accept: */*'], 'ignore_errors' => true,
            'timeout' => $this->timeoutSeconds, 'follow_location' => 0, 'protocol_version' => 1.1]]);
        $text = $query === [] ? '' : '?' . http_build_query($query, '', '&', PHP_QUERY_RFC3986);
        $stream = @fopen(rtrim($this->baseUrl, '/') . $path . $text, 'r', false, $context);
        $lines = $stream === false ? [] : (stream_get_meta_data($stream)['wrapper_data'] ?? []);
        $headers = [];
        foreach ($lines as $line) {
            [$name, $value] = array_pad(explode(':', $line, 2), 2, '');
            $headers[strtolower($name)] = trim($value);
        }
        $status = preg_match('~^HTTP/\S+ (\d{3})~', $lines[0] ?? '', $match) ? (int) $match[1] : 0;
        return $stream === false ? null : $stream;
    }

    /** @param array<string, string> $headers */
    private function waitBefore(int $attempt, array $headers, string $problem): void
    {
        if ($attempt > self::ATTEMPTS) {
            throw new RuntimeException("$problem It was tried " . self::ATTEMPTS . ' times.');
        }
        $asked = ctype_digit($headers['retry-after'] ?? '') ? min(300, (int) $headers['retry-after']) : 0;
        usleep($asked * 1_000_000 + random_int(0, min(30_000, 250 * 2 ** $attempt) * 1000));
    }
}
