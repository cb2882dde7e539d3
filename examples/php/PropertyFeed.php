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
 *     $feed->sync($load, $apply, $copy);
 *
 * $load(): ?string gives back the checkpoint that was kept last, or null.
 *
 * $apply(array $changes, string $checkpoint, array $phase): void puts changes into the copy and keeps the checkpoint, BOTH
 * IN ONE TRANSACTION. Each change is ['kind' => 'upsert' | 'remove', 'ref', 'number', 'payload' (array), 'event'], at most
 * one for each property. $phase['startsOver']: the whole feed is read from here on, mark all rows as stale (an upsert makes
 * a row fresh). $phase['complete']: the whole feed has been read, remove the rows that are still stale.
 *
 * $copy, a PropertyCopy, makes the breaker work: a sync stops with a MassRemovalException before it removes too much.
 *
 * After each sync the service is told how far the copy is, and $feed->report($results) says what became of properties on the site, so
 * that publishers can see it (PROTOCOL.md, section 14.5). Where several programs share a key, give each a $consumer name of its own.
 */
final class PropertyFeed
{
    private const FORMAT = 'property-feed-php/1';
    private const BATCH = 500;
    private const LIST = '/api/func/api/v1/events/getevents';
    private const CONSUMERS = '/v1/property-consumers/';
    /** Results in one request, as many as a service takes. */
    private const RESULTS = 1000;
    /** Seconds between two acknowledgements of a program that stays, and before a place is said once more, in case a node crashed. */
    private const SAID_EVERY = 10;
    private const SAID_AGAIN_AFTER = 60;
    /** Answers that may be better another time. */
    private const PASSING = [0, 408, 425, 429, 500, 502, 503, 504];

    /** @var array<string, mixed> */
    private array $state = [];
    /** @var array<string, array<string, mixed>> the latest event of each property, not yet applied */
    private array $gathered = [];
    private ?PropertyCopy $copy = null;
    private bool $allowMassRemoval = false;
    /** Why there was no answer the last time. */
    private string $silence = '';
    /** Seconds that this run waits for something new. */
    private int $wait = 0;
    /** False: the service does not wait, so that this end does. */
    private bool $serviceWaits = true;
    /** False: the service takes no acknowledgements. */
    private bool $takesAcknowledgements = true;
    /** @var array{after: int, epoch: string, times: int, at: int}|null what was acknowledged last */
    private ?array $said = null;
    /** No acknowledgement before this time, in seconds since 1970. */
    private int $sayNotBefore = 0;

    /**
     * @param string $apiEventType property, salesproperty or lettingsproperty; belongs to the checkpoint
     * @param int $overlapSeconds for plain servers: how much older than the newest event a new one may be when it appears
     * @param int $attempts how often a request is made before it is given up; with 8, that takes 45 seconds on average
     * @param string|null $consumer what the key is used for here, such as website: 1 to 64 letters, digits, ".", "_" and "-"
     * @param bool $acknowledge tells the service after each sync how far the copy is. One of a category does so only with a $consumer
     */
    public function __construct(
        private readonly string $baseUrl,
        private readonly string $key,
        private readonly string $apiEventType = 'property',
        private readonly int $overlapSeconds = 3600,
        private readonly int $pageSize = 100,
        private readonly int $timeoutSeconds = 30,
        private readonly int $attempts = 8,
        private readonly RemovalBreaker $breaker = new RemovalBreaker(),
        private readonly ?string $consumer = null,
        private readonly bool $acknowledge = true,
    ) {
        if (!preg_match('~^https?://[^/\s]~', $baseUrl)) {
            throw new InvalidArgumentException("The address of the feed must begin with https:// or http://, which \"$baseUrl\" does not.");
        }
        if (!preg_match('/^[\x21-\x7e]+$/', $key)) {
            throw new InvalidArgumentException('The key must be as it was given to you: not empty, no blanks, no line breaks.');
        }
        if ($consumer !== null && !preg_match('/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/D', $consumer)) {
            throw new InvalidArgumentException('A consumer has 1 to 64 letters, digits, ".", "_" and "-", and begins with a letter or digit.');
        }
    }

    /**
     * Reads what the copy lacks. Throws a PropertyFeedException, whose message is a sentence for whoever runs it, when the
     * feed cannot be read; what was applied stays.
     *
     * @param bool $allowMassRemoval lets this run remove as much as the feed says
     * @param int $wait 0 to 30: a copy that is up to date waits so many seconds at most for something new, and applies it at once. For a
     *   program that stays: while (true) { $feed->sync($load, $apply, $copy, wait: 25); }
     */
    public function sync(callable $load, callable $apply, ?PropertyCopy $copy = null, bool $allowMassRemoval = false, int $wait = 0): void
    {
        if ($wait < 0 || $wait > 30) {
            throw new InvalidArgumentException("wait must be from 0 to 30 seconds, not $wait.");
        }
        $this->wait = $wait;
        $this->copy = $copy;
        $this->allowMassRemoval = $allowMassRemoval;
        $this->gathered = [];
        $this->state = [];
        $this->state = $this->readCheckpoint($load());
        for ($resyncs = 0; $resyncs < 4; $resyncs++) {
            $again = $this->hasOwnReads() ? $this->readNumbers($apply) : $this->walkPages($apply);
            if (!$again) {
                $this->sayApplied();
                return;
            }
            $this->gathered = [];
            $this->state = $this->freshState();
        }
        throw new PropertyFeedException('invalid_answer', 'The feed began anew again and again while it was read. Do several services answer at this address?');
    }

    /**
     * Says what became of properties on the site. The service keeps the last word on each, so all of it can be said again.
     *
     * @param iterable<array{agentRef: string, sequenceNumber: int, outcome: string, code?: string|null, message?: string|null, url?: string|null}> $results
     *   outcome is live (the site shows this version, or has taken a removed property down), held or refused; sequenceNumber is the
     *   'number' of the change. code and message say why, and name no person; url is the page
     * @return array{stored: int, unknown: list<string>} how many were taken, and the references that the feed does not have
     */
    public function report(iterable $results): array
    {
        $all = is_array($results) ? array_values($results) : iterator_to_array($results, false);
        $path = self::CONSUMERS . ($this->consumer ?? 'default') . '/results';
        $receipt = ['stored' => 0, 'unknown' => []];
        foreach (array_chunk($all, self::RESULTS) as $some) {
            [$status, $body, $headers] = $this->request($path, [], 0, ['POST', json_encode($some, JSON_THROW_ON_ERROR)]);
            $answer = $status === 200 ? json_decode($body, true) : null;
            if (!is_int($answer['stored'] ?? null) || !is_array($answer['unknown'] ?? null)) {
                throw $this->refusal($path, $status, $body, $headers);
            }
            $receipt['stored'] += $answer['stored'];
            $receipt['unknown'] = array_values(array_unique([...$receipt['unknown'], ...$answer['unknown']]));
        }
        return $receipt;
    }

    /** What $apply has kept is said to the service, in one attempt and silently: the next sync says more. */
    private function sayApplied(): void
    {
        $isWhole = $this->state['mode'] === 'numbers' && !$this->state['whole'];
        $isAlone = $this->apiEventType === 'property' || $this->consumer !== null;
        if (!$this->acknowledge || !$this->takesAcknowledgements || !$isWhole || !$isAlone) {
            return;
        }
        ['after' => $after, 'epoch' => $epoch] = $this->state;
        $isSame = $after === ($this->said['after'] ?? null) && $epoch === $this->said['epoch'];
        $isSaid = $isSame && ($this->said['times'] > 1 || time() < $this->said['at'] + self::SAID_AGAIN_AFTER);
        if ($isSaid || time() < $this->sayNotBefore) {
            return;
        }
        $body = json_encode(['sequenceNumber' => $after, 'epoch' => $epoch], JSON_THROW_ON_ERROR);
        $path = self::CONSUMERS . ($this->consumer ?? 'default') . '/acknowledged';
        $stream = $this->open($path, [], $status, $headers, 5 - $this->timeoutSeconds, ['PUT', $body]);
        if ($stream !== null) {
            fclose($stream);
        }
        if ($status >= 200 && $status < 300) {
            $this->said = ['after' => $after, 'epoch' => $epoch, 'times' => $isSame ? 2 : 1, 'at' => time()];
            $this->sayNotBefore = time() + ($this->wait > 0 ? self::SAID_EVERY : 0);
        } else {
            // A conflict passes: the next sync finds the new epoch.
            $this->takesAcknowledgements = $status === 409 || in_array($status, self::PASSING, true);
            $asked = ctype_digit($headers['retry-after'] ?? '') ? min(3600, (int) $headers['retry-after']) : 0;
            $this->sayNotBefore = time() + max(self::SAID_EVERY, $asked);
        }
    }

    /** @return array<string, mixed> */
    private function freshState(): array
    {
        return ['format' => self::FORMAT, 'type' => $this->apiEventType, 'mode' => 'start', 'opens' => true, 'whole' => true,
            'tenant' => $this->state['tenant'] ?? null, 'removals' => $this->state['removals'] ?? []];
    }

    /** @return array<string, mixed> */
    private function readCheckpoint(?string $text): array
    {
        if ($text === null || $text === '') {
            return $this->freshState();
        }
        $state = json_decode($text, true);
        $needed = ['type' => 'is_string', 'opens' => 'is_bool', 'whole' => 'is_bool'] + match ($state['mode'] ?? null) {
            'numbers' => ['epoch' => 'is_string', 'revision' => 'is_int', 'after' => 'is_int'],
            'pages' => ['applied' => 'is_array'],
            default => [],
        };
        $isWhole = is_array($state) && ($state['format'] ?? null) === self::FORMAT;
        foreach ($needed as $name => $isRight) {
            $isWhole = $isWhole && $isRight($state[$name] ?? null);
        }
        if (!$isWhole || !in_array($state['mode'] ?? null, ['start', 'numbers', 'pages'], true) || !is_array($state['removals'] ?? [])) {
            throw new PropertyFeedException('checkpoint', 'What was kept is not a checkpoint of this version. Start with an empty copy and no checkpoint.');
        }
        if ($state['type'] !== $this->apiEventType) {
            throw new PropertyFeedException('checkpoint', "The checkpoint belongs to {$state['type']}, not to {$this->apiEventType}. Use one checkpoint and one copy for each.");
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
        $tenant = is_string($tenant) ? $tenant : null;
        if ($tenant !== null && $tenant !== ($this->state['tenant'] ?? $tenant)) {
            throw new PropertyFeedException('checkpoint', "The checkpoint belongs to tenant {$this->state['tenant']}, the key reads tenant $tenant. Use one checkpoint and one copy for each.");
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
        // What has just been read is applied at once.
        $wait = $this->state['mode'] === 'numbers' ? $this->wait : 0;
        if ($this->state['mode'] !== 'numbers' && !$this->readSnapshot($apply)) {
            return true;
        }
        while (true) {
            if ($wait > 0 && !$this->serviceWaits) {
                sleep($wait);
                $wait = 0;
            }
            $query = ['after' => $this->state['after'], 'epoch' => $this->state['epoch'], 'apiEventType' => $this->apiEventType];
            [$status, $body, $headers] = $this->request('/v1/property-events', $query + ($wait > 0 ? ['wait' => $wait] : []), $wait);
            if ($status === 409 || $status === 404) {
                return true;
            }
            if ($status === 400 && $wait > 0) {
                // A service of a version before waiting.
                $this->serviceWaits = false;
                continue;
            }
            $wait = 0;
            $run = $this->decoded('/v1/property-events', $status, $body, ['next' => 'is_int', 'head' => 'is_int', 'epoch' => 'is_string', 'revision' => 'is_int'], $headers);
            // Another revision says that earlier events were reduced: a copy of the latest of each property needs nothing for it.
            if ($run['epoch'] !== $this->state['epoch']) {
                return true;
            }
            $before = $this->state['after'];
            $isRepeated = $run['items'] !== [] && min(array_column($run['items'], 'sequenceNumber')) <= $before;
            if ($isRepeated || ($run['next'] <= $before && $run['next'] < $run['head'])) {
                // Applied, it could put an older event over a newer one; followed, it would be asked for for ever.
                throw new PropertyFeedException('invalid_answer', "Asked for events behind $before, the service gave others or none. Is there a cache before it?");
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

    /** False: the feed is another than when the snapshot was begun. */
    private function readSnapshot(callable $apply): bool
    {
        $this->state = $this->freshState();
        $place = [];
        $revision = $furthest = 0;
        for ($attempt = 1; ; ) {
            $stream = $this->open('/v1/property-events/snapshot', $place + ['apiEventType' => $this->apiEventType], $status, $headers);
            $problem = $this->silence;
            if ($stream !== null && $status === 200) {
                if ($place === []) {
                    [$place, $revision] = $this->placeOf($headers);
                }
                $begun = $place['after'];
                [$events, $problem] = [0, 'The snapshot was cut off.'];
                while (($line = fgets($stream)) !== false && str_ends_with($line, "\n")) {
                    $value = json_decode($line, true);
                    $isEnd = is_array($value) && ($value['end'] ?? false) === true;
                    if ($isEnd && ($value['head'] ?? null) === $place['head'] && ($value['events'] ?? null) === $events) {
                        fclose($stream);
                        $this->state = ['mode' => 'numbers', 'epoch' => $place['epoch'], 'revision' => $revision, 'after' => $place['head']] + $this->state;
                        return true;
                    }
                    $event = $this->eventOf($value);
                    if ($isEnd || $event === null || $event['sequenceNumber'] <= $place['after'] || $event['sequenceNumber'] > $place['head']) {
                        // What is missing stands somewhere in this answer, so all of it is asked for again.
                        [$place['after'], $problem] = [$begun, 'The snapshot does not hold what its last line says, each event in its place.'];
                        break;
                    }
                    $this->gather($event);
                    $events++;
                    $place['after'] = $event['sequenceNumber'];
                    if ($place['after'] > $furthest) {
                        [$furthest, $attempt] = [$place['after'], 1];
                    }
                    // The checkpoint stays at the start until the snapshot is whole: a crash begins it again.
                    $this->flushIfFull($apply);
                }
            } elseif ($place !== [] && ($status === 404 || $status === 409)) {
                fclose($stream);
                return false;
            } elseif ($stream !== null) {
                $problem = "The snapshot was answered with status $status.";
                if (!in_array($status, self::PASSING, true)) {
                    throw $this->refusal('/v1/property-events/snapshot', $status, (string) stream_get_contents($stream, 65_536), $headers);
                }
            }
            if ($stream !== null) {
                fclose($stream);
            }
            $this->waitBefore(++$attempt, $headers, $problem);
        }
    }

    /** @param array<string, string> $headers @return array{array<string, int|string>, int} the snapshot's place and its revision */
    private function placeOf(array $headers): array
    {
        [$head, $epoch, $revision] = [$headers['x-feed-head'] ?? '', $headers['x-feed-epoch'] ?? '', $headers['x-feed-revision'] ?? ''];
        if (!ctype_digit($head) || $epoch === '' || !ctype_digit($revision)) {
            throw new PropertyFeedException('invalid_answer', 'The snapshot came without x-feed-head, x-feed-epoch and x-feed-revision. Does a proxy take them away?');
        }
        return [['after' => 0, 'head' => (int) $head, 'epoch' => $epoch], (int) $revision];
    }

    /** Page after page of the whole feed, later of a window of time. True: begin anew. */
    private function walkPages(callable $apply): bool
    {
        if ($this->state['mode'] !== 'pages') {
            $this->state = ['mode' => 'pages', 'from' => null, 'page' => 1, 'applied' => [], 'newest' => null] + $this->freshState();
        } else {
            // Such a server holds no request.
            sleep($this->wait);
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
        [$status, $body, $headers] = $this->request(self::LIST, $query);
        return $this->decoded(self::LIST, $status, $body, ['pageSize' => 'is_int', 'availableCount' => 'is_int', 'totalPages' => 'is_int'], $headers);
    }

    /** Keeps the latest event of each property, unless the copy has it or a later one. @param array<string, mixed> $event */
    private function gather(array $event): void
    {
        $payload = json_decode((string) $event['payload'], true);
        $named = is_array($payload) ? ($payload['agent_ref'] ?? '') : '';
        $ref = strtolower(is_string($named) && $named !== '' ? $named : $event['transactionId']);
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
        if (!is_array($payload) || $event['eventTypeShortCode'] === 'PropertyUnpublished') {
            return true;
        }
        // Nothing is left to show. After a thinned event a later one of its property follows.
        if (($payload['erased'] ?? false) === true || ($payload['thinned'] ?? false) === true) {
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
        if ($this->state['whole'] && $this->copy !== null) {
            // What is still stale after these goes by itself, so that the breaker can look at it before.
            $this->applyGathered($apply, false, $forgetBefore);
            $this->guard($this->copy->stale());
        }
        $this->applyGathered($apply, $this->state['whole'], $forgetBefore);
    }

    /**
     * The digest of properties (PROTOCOL.md, section 14.3): the number of the latest event of each, by its reference in lower case.
     *
     * @param array<string, int> $numbers
     */
    public static function digest(array $numbers): string
    {
        ksort($numbers, SORT_STRING);
        $hash = hash_init('sha256');
        foreach ($numbers as $ref => $number) {
            hash_update($hash, "$ref $number\n");
        }
        return hash_final($hash);
    }

    /**
     * What of a copy is not as the feed shows it, found in a few requests: by reference the number in the feed and the one in the copy, null
     * where it is not there. What is being published may be in it: sync, ask again, and take what differs both times.
     *
     * @param array<string, int> $numbers all that the copy holds
     * @return array<string, array{feed: int|null, copy: int|null}>
     */
    public function differences(array $numbers): array
    {
        $found = $this->differencesIn('', $numbers);
        ksort($found, SORT_STRING);
        return $found;
    }

    /**
     * @param array<string, int> $own those of the copy that begin with these digits
     * @return array<string, array{feed: int|null, copy: int|null}>
     */
    private function differencesIn(string $prefix, array $own): array
    {
        $path = '/v1/property-events/digest';
        [$status, $body, $headers] = $this->request($path, ['prefix' => $prefix, 'apiEventType' => $this->apiEventType]);
        $answer = $status === 200 ? json_decode($body, true) : null;
        if (!is_string($answer['digest'] ?? null)) {
            throw $this->refusal($path, $status, $body, $headers);
        }
        if ($answer['digest'] === self::digest($own)) {
            return [];
        }
        if (is_array($answer['subjects'] ?? null)) {
            return self::unequal(array_column($answer['subjects'], 'sequenceNumber', 'subjectId'), $own);
        }
        $digits = strlen($prefix) + 2;
        $ours = [];
        foreach ($own as $ref => $number) {
            $ours['p' . substr(str_replace('-', '', $ref), 0, $digits)][$ref] = $number;
        }
        $found = [];
        foreach ($answer['parts'] as $part) {
            $inside = $ours['p' . $part['prefix']] ?? [];
            unset($ours['p' . $part['prefix']]);
            if ($part['digest'] !== self::digest($inside)) {
                $found += $this->differencesIn($part['prefix'], $inside);
            }
        }
        return array_reduce($ours, static fn (array $all, array $inside): array => $all + self::unequal([], $inside), $found);
    }

    /**
     * @param array<string, int> $theirs
     * @param array<string, int> $ours
     * @return array<string, array{feed: int|null, copy: int|null}>
     */
    private static function unequal(array $theirs, array $ours): array
    {
        $found = [];
        foreach (array_keys($theirs + $ours) as $ref) {
            [$feed, $copy] = [$theirs[$ref] ?? null, $ours[$ref] ?? null];
            if ($feed !== $copy) {
                $found[$ref] = ['feed' => $feed, 'copy' => $copy];
            }
        }
        return $found;
    }

    /** Counts what is about to be removed, and stops before too much of the copy goes. @param list<string> $refs */
    private function guard(array $refs): void
    {
        if ($this->copy === null) {
            return;
        }
        $going = [];
        foreach (array_chunk($refs, self::BATCH) as $some) {
            $going = [...$going, ...array_values($this->copy->held($some))];
        }
        if ($going === []) {
            return;
        }
        $held = $this->copy->count();
        if ($this->allowMassRemoval) {
            // What has been allowed once is over: the next window begins with what is left.
            $this->state['removals'] = [];
            return;
        }
        $counted = $this->breaker->count($this->state['removals'] ?? [], (int) (microtime(true) * 1000), $held, count($going));
        if ($counted['tooMany']) {
            throw new MassRemovalException($going, $held, $counted['removedBefore'], $counted['limit'], $this->breaker->windowMs);
        }
        $this->state['removals'] = $counted['window'];
    }

    private function applyGathered(callable $apply, bool $complete, string $forgetBefore = ''): void
    {
        $changes = array_values($this->gathered);
        usort($changes, static fn (array $one, array $other): int => $one['number'] <=> $other['number']);
        $this->guard(array_column(array_filter($changes, static fn (array $change): bool => $change['kind'] === 'remove'), 'ref'));
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

    /**
     * An answer's members, once these are there and its `items` are events.
     *
     * @param array<string, callable> $members
     * @param array<string, string> $headers
     * @return array<string, mixed>
     */
    private function decoded(string $path, int $status, string $body, array $members, array $headers): array
    {
        if ($status !== 200) {
            throw $this->refusal($path, $status, $body, $headers);
        }
        $value = json_decode($body, true);
        $isWhole = is_array($value) && is_array($value['items'] ?? null);
        foreach ($members as $name => $isRight) {
            $isWhole = $isWhole && $isRight($value[$name] ?? null);
        }
        $items = $isWhole ? array_map($this->eventOf(...), array_values($value['items'])) : [];
        if (!$isWhole || in_array(null, $items, true)) {
            throw new PropertyFeedException('invalid_answer', "$path was answered with something other than the contract's JSON: "
                . self::shown($body) . '. Is ' . $this->address() . ' the address of a feed?');
        }
        return ['items' => $items] + $value;
    }

    /**
     * An event as the contract writes it. Some services leave members out or empty them; without a number and an id it is none.
     *
     * @return array<string, mixed>|null
     */
    private function eventOf(mixed $value): ?array
    {
        if (!is_array($value) || !is_int($value['sequenceNumber'] ?? null) || !is_string($value['id'] ?? null) || $value['id'] === '') {
            return null;
        }
        $payload = $value['payload'] ?? '';
        $value['payload'] = is_array($payload) ? json_encode($payload, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION) : (is_string($payload) ? $payload : '');
        $value['eventType'] = is_int($value['eventType'] ?? null) ? $value['eventType'] : -1;
        foreach (['transactionId', 'eventTypeShortCode', 'createdDate'] as $name) {
            $value[$name] = is_string($value[$name] ?? null) ? $value[$name] : '';
        }
        // A text that is no date is older than everything.
        $isDate = preg_match('~^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d~', $value['createdDate']) === 1 && strtotime(substr($value['createdDate'], 0, 19)) !== false;
        $value['createdDate'] = $isDate ? $value['createdDate'] : '';
        return $value;
    }

    /** What an answer says that no further attempt would better. @param array<string, string> $headers */
    private function refusal(string $path, int $status, string $body, array $headers): PropertyFeedException
    {
        $problem = json_decode($body, true);
        $detail = is_array($problem) && is_string($problem['detail'] ?? null) ? ' ' . self::shown($problem['detail']) : '';
        if (in_array($status, [301, 302, 303, 307, 308], true)) {
            return new PropertyFeedException('redirected', $this->redirection($path, $status, $headers['location'] ?? ''), $status);
        }
        if ($status === 401 || $status === 403) {
            return new PropertyFeedException('key_refused', $this->address() . " does not accept the key ($status).$detail "
                . 'See that it is whole; if it is, ask whoever runs the feed for a key that may read property events.', $status);
        }
        $remedy = $status === 404 ? ' Is ' . $this->address() . ' the address of a feed?' : '';
        return new PropertyFeedException('refused', "$path was answered with status $status.$detail$remedy", $status);
    }

    /** A redirect is never followed, since the key would go with it. */
    private function redirection(string $path, int $status, string $location): string
    {
        $host = parse_url($this->baseUrl);
        if (str_starts_with($location, '//')) {
            $location = "{$host['scheme']}:$location";
        } elseif (str_starts_with($location, '/')) {
            $location = "{$host['scheme']}://{$host['host']}" . (isset($host['port']) ? ":{$host['port']}" : '') . $location;
        }
        // Without what may be secret in it: a password, a query.
        $target = self::shown((string) preg_replace(['~[?#].*$~s', '~//[^/@]*@~'], ['', '//'], $location), 200);
        $isAddress = preg_match('~^https?://~i', $target) === 1;
        $remedy = $isAddress && str_ends_with($target, $path)
            ? 'Use ' . substr($target, 0, -strlen($path)) . ' as the address.'
            : 'Use the address of the service itself.';
        return $this->address() . " redirects ($status) " . ($isAddress ? "to $target" : 'elsewhere')
            . ", which is not followed, since the key would go with it. $remedy";
    }

    /** The address as it may be shown. */
    private function address(): string
    {
        return (string) preg_replace(['~[?#].*$~s', '~//[^/@]*@~'], ['', '//'], rtrim($this->baseUrl, '/'));
    }

    /** The first words of what another has written, on one line. */
    private static function shown(string $text, int $length = 300): string
    {
        $line = trim((string) preg_replace('/[\x00-\x1f\x7f]+/', ' ', $text));
        return strlen($line) > $length ? substr($line, 0, $length) . '…' : $line;
    }

    /**
     * One request, made again while that may help. A 200 that is not whole JSON counts as cut off.
     *
     * @param array<string, int|string> $query
     * @param int $wait seconds that the service may take for its answer, before it counts as silent
     * @param array{string, string}|null $sends method and body, JSON; null: GET
     * @return array{int, string, array<string, string>} status, body and headers
     */
    private function request(string $path, array $query, int $wait = 0, ?array $sends = null): array
    {
        for ($attempt = 1; ; $attempt++) {
            $stream = $this->open($path, $query, $status, $headers, $wait, $sends);
            $body = $stream === null ? '' : (string) stream_get_contents($stream);
            if ($stream !== null) {
                fclose($stream);
            }
            $isWhole = strlen($body) === (int) ($headers['content-length'] ?? strlen($body));
            $isCut = $status === 200 && (!$isWhole || (json_decode($body) === null && str_starts_with(ltrim($body), '{')));
            // What a 409 means stands in its body.
            $isCut = $isCut || ($status === 409 && json_decode($body) === null);
            if (!$isCut && !in_array($status, self::PASSING, true)) {
                return [$status, $body, $headers];
            }
            $answer = "$path was answered with status $status" . ($isCut ? ', cut off.' : '.');
            $this->waitBefore($attempt + 1, $headers, $status === 0 ? $this->silence : $answer);
        }
    }

    /**
     * @param array<string, int|string> $query
     * @param array<string, string>|null $headers in lower case
     * @param array{string, string}|null $sends method and body, JSON; null: GET
     * @return resource|null
     */
    private function open(string $path, array $query, ?int &$status, ?array &$headers, int $wait = 0, ?array $sends = null)
    {
        $lines = ["x-api-key: {$this->key}", 'accept: */*', ...($this->consumer === null ? [] : ["x-feed-consumer: {$this->consumer}"])];
        $body = $sends === null ? [] : ['method' => $sends[0], 'content' => $sends[1]];
        $context = stream_context_create(['http' => $body + [
            'header' => [...$lines, ...($sends === null ? [] : ['content-type: application/json'])], 'ignore_errors' => true,
            'timeout' => $this->timeoutSeconds + $wait, 'follow_location' => 0, 'protocol_version' => 1.1]]);
        $text = $query === [] ? '' : '?' . http_build_query($query, '', '&', PHP_QUERY_RFC3986);
        $warnings = [];
        set_error_handler(static function (int $level, string $message) use (&$warnings): bool {
            // "fopen(address): Failed to open stream: reason": the reason alone, since the address may have a password in it.
            $warnings[] = preg_replace(['~^fopen\(.*?\): ~s', '~^Failed to open stream: ~i'], '', $message);
            return true;
        });
        try {
            $stream = fopen(rtrim($this->baseUrl, '/') . $path . $text, 'r', false, $context);
        } finally {
            restore_error_handler();
        }
        $reason = rtrim(self::shown($warnings[0] ?? 'nothing came'), '.');
        $this->silence = $this->address() . " does not answer: $reason. See that the address is right and that the service runs.";
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
        if ($attempt > $this->attempts) {
            $kind = $problem === $this->silence ? 'unreachable' : 'unavailable';
            throw new PropertyFeedException($kind, $problem . ($this->attempts > 1 ? " It was tried {$this->attempts} times." : ''));
        }
        $asked = ctype_digit($headers['retry-after'] ?? '') ? min(300, (int) $headers['retry-after']) : 0;
        usleep($asked * 1_000_000 + random_int(0, min(30_000, 250 * 2 ** $attempt) * 1000));
    }
}

/** What the breaker needs to know of a copy. References are in lower case. */
interface PropertyCopy
{
    /** How many properties it holds, stale ones included. */
    public function count(): int;

    /**
     * Which of these it holds.
     *
     * @param list<string> $refs at most 500
     * @return list<string>
     */
    public function held(array $refs): array;

    /** @return list<string> those that $phase['startsOver'] has marked as stale and that no upsert has made fresh */
    public function stale(): array;
}

/**
 * Stops a sync before it removes too much of a copy: a publisher's mistake should not empty a website. The copy never shrinks by more
 * than $maxShare of the most it held within $windowMs, across runs; by $minRemovals it always may. The rule is that of the client in
 * TypeScript, and the tests compare the two.
 */
final class RemovalBreaker
{
    /** A window of a day has slices of an hour: what was held counts for a day at least, and for an hour more at most. */
    private const SLICES_PER_WINDOW = 24;

    public function __construct(
        public readonly float $maxShare = 0.25,
        public readonly int $minRemovals = 20,
        public readonly int $windowMs = 86_400_000,
    ) {
    }

    /**
     * @param list<array{int, int}> $window when each slice began, and the most that the copy held in it
     * @param int $held properties the copy holds now
     * @param int $going how many of them are to be removed
     * @return array{tooMany: bool, removedBefore: int, limit: int, window: list<array{int, int}>} `window` with these in it
     */
    public function count(array $window, int $nowMs, int $held, int $going): array
    {
        $sliceMs = $this->windowMs / self::SLICES_PER_WINDOW;
        $counts = fn (array $slice): bool => $nowMs >= $slice[0] && $nowMs - $slice[0] < $this->windowMs + $sliceMs;
        $window = array_values(array_filter($window, $counts));
        $most = max([$held, ...array_column($window, 1)]);
        $removedBefore = $most - $held;
        $limit = (int) floor(max($this->minRemovals, $this->maxShare * $most));
        $last = count($window) - 1;
        if ($last < 0 || $nowMs - $window[$last][0] >= $sliceMs) {
            $window[] = [$nowMs, $held];
        } else {
            $window[$last][1] = max($window[$last][1], $held);
        }
        return ['tooMany' => $going > 0 && $removedBefore + $going > $limit, 'removedBefore' => $removedBefore, 'limit' => $limit, 'window' => $window];
    }
}

/** The feed cannot be read. The message is a sentence for whoever runs the sync. */
class PropertyFeedException extends RuntimeException
{
    /**
     * @param string $problem unreachable, unavailable (it may pass), key_refused, redirected, refused, invalid_answer, checkpoint or
     *   mass_removal
     * @param int $status of the answer, if it was one
     */
    public function __construct(public readonly string $problem, string $message, public readonly int $status = 0)
    {
        parent::__construct($message);
    }
}

/** The breaker stopped a sync before it removed too much of the copy. Nothing of the batch was applied. */
final class MassRemovalException extends PropertyFeedException
{
    /** What would go, the limit, and that updates have stopped: the message without what to do, for programs that say that in their own way. */
    public readonly string $summary;

    /**
     * @param list<string> $refs what the batch would have removed of the copy
     * @param int $held properties the copy holds
     * @param int $removedBefore how many fewer than the most within the breaker's window it holds
     * @param int $limit as many may be gone within the window, $removedBefore included
     */
    public function __construct(
        public readonly array $refs,
        public readonly int $held,
        public readonly int $removedBefore,
        public readonly int $limit,
        int $windowMs,
    ) {
        $window = $windowMs % 3_600_000 === 0 ? $windowMs / 3_600_000 . ' hours' : max(1, round($windowMs / 60_000)) . ' minutes';
        [$going, $gone, $most] = [count($refs), $removedBefore + count($refs), $held + $removedBefore];
        $this->summary = "The feed would remove $going of $held in the copy. $gone of $most would then be gone within $window, "
            . "and the limit is $limit. Nothing was removed, and updates have stopped until this is settled.";
        parent::__construct('mass_removal', $this->summary . ' If the removals are right, run the sync once with $allowMassRemoval. '
            . 'If they are a mistake, have them published again and run it as usual; nothing is lost by waiting.');
    }
}
