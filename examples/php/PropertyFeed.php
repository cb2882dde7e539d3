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
 * IN ONE TRANSACTION. Each change is ['kind' => 'upsert' | 'remove' | 'odd', 'ref', 'number', 'payload' (array), 'event'], at most
 * one for each property. $phase['startsOver']: the whole feed is read from here on, mark all rows as stale (a change makes
 * a row fresh). $phase['complete']: the whole feed has been read, remove the rows that are still stale. An odd change has a payload
 * that cannot be read, and a 'reason': leave its row as it is, and make it fresh.
 *
 * Whatever a server sends, a sync keeps no more than some 64 MB of it in memory: a page, a run or an event of the feed that is
 * larger than the protocol allows ends it with a sentence, a payload that is makes its property odd.
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
    /** The longest line of a snapshot, and the longest answer of another kind, in bytes. */
    private const LINE_BYTES = 4 * 2 ** 20;
    private const ANSWER_BYTES = 24 * 2 ** 20;
    /** Twice what a service takes: others that speak the contract may count otherwise. */
    private const PAYLOAD_BYTES = 512 * 1024;
    /** Lists and objects in an answer and in a payload, and signs of JSON outside of texts. Small texts are not counted. */
    private const PARTS = 50_000;
    private const PAYLOAD_PARTS = 10_000;
    private const SIGNS = 512 * 1024;
    private const PLAIN_BYTES = 64 * 1024;
    /** Levels of an answer, and of a payload. */
    private const LEVELS = 2_000;
    private const PAYLOAD_LEVELS = 500;
    /** Bytes that the changes of one batch take, about. */
    private const BATCH_BYTES = 16 * 2 ** 20;
    /** Requests for a page before another one is believed to be the answer. */
    private const PAGE_ATTEMPTS = 4;
    private const IS_CACHED = ' Is there a cache in front of the service that ignores the query?';
    /** A text of JSON, the last one perhaps without its end. */
    private const TEXT = '"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"?';
    /** Seconds between two acknowledgements of a program that stays, and before a place is said once more, in case a node crashed. */
    private const SAID_EVERY = 10;
    private const SAID_AGAIN_AFTER = 60;
    private const OTHER_EPOCH = 'its numbers mean other events now, as after a restore';
    private const OTHER_SERVICE = 'a service of another version answers now';
    /** Answers that may be better another time. */
    private const PASSING = [0, 408, 425, 429, 500, 502, 503, 504];

    /** @var array<string, mixed> */
    private array $state = [];
    /** @var array<string, array<string, mixed>> the latest event of each property, not yet applied */
    private array $gathered = [];
    /** Bytes of them, about. */
    private int $gatheredBytes = 0;
    private ?PropertyCopy $copy = null;
    private bool $allowMassRemoval = false;
    /** Why there was no answer the last time. */
    private string $silence = '';
    /** Why the whole feed was read again. */
    private string $readAgain = '';
    /** Seconds that this run waits for something new. */
    private int $wait = 0;
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
        if (!preg_match('~^https?://[^/\s]\S*\z~', $baseUrl) || parse_url($baseUrl, PHP_URL_HOST) === null) {
            throw new InvalidArgumentException('The address of the feed must begin with https:// or http:// and have no blanks, unlike "'
                . self::shown((string) preg_replace('~^(\w+://)?[^/?#]*@~', '$1', $baseUrl)) . '".');
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
        $this->forgetGathered();
        $this->readAgain = '';
        $this->state = [];
        $this->state = $this->readCheckpoint($load());
        for ($resyncs = 0; $resyncs < 4; $resyncs++) {
            $again = $this->hasOwnReads() ? $this->readNumbers($apply) : $this->walkPages($apply);
            if ($again === null) {
                $this->sayApplied();
                return;
            }
            $this->readAgain = $again;
            $this->forgetGathered();
            $this->state = $this->freshState();
        }
        throw new PropertyFeedException('invalid_answer', 'The feed began anew again and again while it was read. Do several services answer at this address?');
    }

    /** Why the last sync read the whole feed again, as a sentence; '' when it did not. Everything is applied once more, and nothing is lost. */
    public function readAgain(): string
    {
        return $this->readAgain === '' ? '' : "The whole feed is read again: $this->readAgain.";
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
            [$status, $body, $headers, $answer] = $this->request($path, [], 0, ['POST', json_encode($some, JSON_THROW_ON_ERROR)]);
            if ($status !== 200 || !is_int($answer['stored'] ?? null) || !is_array($answer['unknown'] ?? null)) {
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
        try {
            $sent = $this->open($path, [], 5 - $this->timeoutSeconds, ['PUT', $body]);
        } catch (PropertyFeedException) {
            $sent = null;
        }
        $sent?->close();
        [$status, $headers] = [$sent?->status ?? 0, $sent?->headers ?? []];
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
        $needed = ['type' => 'is_string', 'opens' => 'is_bool', 'whole' => 'is_bool', 'removals' => 'is_array'] + match ($state['mode'] ?? null) {
            'numbers' => ['epoch' => 'is_string', 'revision' => 'is_int', 'after' => 'is_int'],
            'pages' => ['applied' => 'is_array'],
            default => [],
        };
        $isWhole = is_array($state) && ($state['format'] ?? null) === self::FORMAT;
        foreach ($needed as $name => $isRight) {
            $isWhole = $isWhole && $isRight($state[$name] ?? null);
        }
        if (!$isWhole || !in_array($state['mode'] ?? null, ['start', 'numbers', 'pages'], true)) {
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
        [$status, , , $answer] = $this->request('/v1/heads', []);
        $heads = is_array($answer) ? $answer['heads'] ?? null : null;
        $has = $status === 200 && is_array($heads);
        $tenant = $has ? (array_column($heads, 'tenantId', 'feed')['property'] ?? null) : null;
        $tenant = is_string($tenant) ? $tenant : null;
        if ($tenant !== null && $tenant !== ($this->state['tenant'] ?? $tenant)) {
            throw new PropertyFeedException('checkpoint', "The checkpoint belongs to tenant {$this->state['tenant']}, the key reads tenant $tenant. Use one checkpoint and one copy for each.");
        }
        if ($has !== ($this->state['mode'] !== 'pages') && $this->state['mode'] !== 'start') {
            $this->readAgain = self::OTHER_SERVICE;
            $this->state = $this->freshState();
        }
        $this->state['tenant'] ??= $tenant;
        return $has;
    }

    /** A snapshot, if the copy is new, and then what came after it. Not null: begin anew, for this reason. */
    private function readNumbers(callable $apply): ?string
    {
        // What has just been read is applied at once.
        $wait = $this->state['mode'] === 'numbers' ? $this->wait : 0;
        if ($this->state['mode'] !== 'numbers' && !$this->readSnapshot($apply)) {
            return self::OTHER_EPOCH;
        }
        while (true) {
            $query = ['after' => $this->state['after'], 'epoch' => $this->state['epoch'], 'apiEventType' => $this->apiEventType];
            [$status, $body, $headers, $json] = $this->request('/v1/property-events', $query + ($wait > 0 ? ['wait' => $wait] : []), $wait);
            if ($status === 409 || $status === 404) {
                return $status === 409 ? self::OTHER_EPOCH : self::OTHER_SERVICE;
            }
            $wait = 0;
            $members = ['next' => 'is_int', 'head' => 'is_int', 'epoch' => 'is_string', 'revision' => 'is_int'];
            $run = $this->decoded('/v1/property-events', $status, $body, $members, $headers, $json);
            unset($body, $json);
            // Another revision says that earlier events were reduced: a copy of the latest of each property needs nothing for it.
            if ($run['epoch'] !== $this->state['epoch']) {
                return self::OTHER_EPOCH;
            }
            $before = $this->state['after'];
            $numbers = array_column($run['items'], 'sequenceNumber');
            $isRepeated = $numbers !== [] && (min($numbers) <= $before || max($numbers) > $run['next'] || !self::rises($numbers));
            if ($isRepeated || ($run['next'] <= $before && $run['next'] < $run['head'])) {
                // Applied, it could put an older event over a newer one; followed, it would be asked for for ever.
                throw new PropertyFeedException('invalid_answer', "Asked for events behind $before, the service gave others or none." . self::IS_CACHED);
            }
            foreach ($run['items'] as $event) {
                $this->gather($event);
                $this->state['after'] = $event['sequenceNumber'];
                $this->flushIfFull($apply);
            }
            $this->state['after'] = max($before, $run['next']);
            if ($run['next'] >= $run['head']) {
                $this->finish($apply, $this->state['after'] !== $before);
                return null;
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
            $answer = $this->open('/v1/property-events/snapshot', $place + ['apiEventType' => $this->apiEventType]);
            [$status, $headers, $problem] = [$answer?->status ?? 0, $answer?->headers ?? [], $this->silence];
            if ($answer !== null && $status === 200) {
                if ($place === []) {
                    [$place, $revision] = $this->placeOf($headers);
                }
                $begun = $place['after'];
                [$events, $problem] = [0, 'The snapshot was cut off.'];
                while (($line = $answer->line(self::LINE_BYTES)) !== null) {
                    if ($line === '') {
                        throw $this->tooLong('/v1/property-events/snapshot', 'a line', self::LINE_BYTES);
                    }
                    $value = self::hasTooMany($line, self::PAYLOAD_PARTS) ? null : self::json($line);
                    $isEnd = is_array($value) && ($value['end'] ?? false) === true;
                    if ($isEnd && ($value['head'] ?? null) === $place['head'] && ($value['events'] ?? null) === $events) {
                        $answer->close();
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
                $answer->close();
                return false;
            } elseif ($answer !== null) {
                $problem = "The snapshot was answered with status $status.";
                if (!in_array($status, self::PASSING, true)) {
                    throw $this->refusal('/v1/property-events/snapshot', $status, $answer->body(self::PLAIN_BYTES) ?? '', $headers);
                }
            }
            $answer?->close();
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

    /** Page after page of the whole feed, later of a window of time. Not null: begin anew, for this reason. */
    private function walkPages(callable $apply): ?string
    {
        if ($this->state['mode'] !== 'pages') {
            $this->state = ['mode' => 'pages', 'from' => null, 'page' => 1, 'applied' => [], 'newest' => null] + $this->freshState();
        } else {
            // Such a server holds no request.
            sleep($this->wait);
        }
        $check = new WalkCheck();
        $walk = ['available' => 0, 'wanted' => null, 'started' => $this->state['newest'][1] ?? null, 'newest' => $this->state['newest'], 'saw' => false];
        [$furthest, $falls] = [0, 0];
        // A walk is always begun at page 1: what changed since the last run may stand before the page it had come to.
        for ($page = 1; ; ) {
            $answer = $this->page($page, $check);
            if ($answer['epoch'] !== ($this->state['epoch'] ??= $answer['epoch']) && $answer['epoch'] !== null) {
                return self::OTHER_EPOCH;
            }
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
            $check->note($answer);
            $events = $answer['items'];
            if ($page < $answer['totalPages'] && ($events === [] || ($page === 1 && $this->state['from'] === null))) {
                // Where the newest events stand depends on the server's order: the first page or the last.
                // Beside an empty page the last one tells a gap from a total that says too much.
                $last = $this->page($answer['totalPages'], $check)['items'];
                $check->noteEvents($last);
                $events = array_merge($events, $last);
            }
            foreach ($events as $event) {
                $this->gather($event);
                $this->flushIfFull($apply);
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
                $walk['wanted'] = min($walk['wanted'] ?? $answer['availableCount'], $answer['availableCount']);
                $missing = $check->missing($walk['wanted'], $answer);
                if ($missing <= 0) {
                    break;
                }
                if ($check->isAgain) {
                    throw new PropertyFeedException('invalid_answer', 'The list says that it has ' . number_format($walk['wanted']) . ' events, and its pages did not show '
                        . number_format($missing) . ' of them: some pages came twice, or are old.' . self::IS_CACHED);
                }
                $check->again();
                [$page, $walk['available']] = [1, 0];
            } else {
                $page++;
            }
            $this->flushIfFull($apply);
        }
        if ($this->state['newest'] !== null && !$walk['saw']) {
            return 'the newest event that was read is gone, as after a restore';
        }
        $moved = $walk['newest'] !== $this->state['newest'];
        $this->state['newest'] = $walk['newest'];
        if ($walk['started'] !== '') {
            $this->state['from'] = $this->bound($walk['started'], $this->overlapSeconds);
            $forget = str_replace(' ', 'T', $this->bound($walk['started'], 2 * $this->overlapSeconds));
        }
        $this->finish($apply, $moved, $forget ?? '');
        return null;
    }

    /**
     * The page, and not another one that a cache gives: waiting mends that rarely, so it is asked for a few times at most.
     *
     * @return array<string, mixed>
     */
    private function page(int $page, WalkCheck $check): array
    {
        $query = ['apiEventType' => $this->apiEventType, 'page' => $page, 'pageSize' => $this->pageSize];
        if ($this->state['from'] !== null) {
            $query['from'] = $this->state['from'];
        }
        $members = ['page' => 'is_int', 'pageSize' => 'is_int', 'availableCount' => 'is_int', 'totalPages' => 'is_int'];
        for ($attempt = 1; ; $attempt++) {
            [$status, $body, $headers, $json] = $this->request(self::LIST, $query);
            $answer = $this->decoded(self::LIST, $status, $body, $members, $headers, $json);
            unset($body, $json);
            $fault = self::otherPage($query, $answer) ?? $check->faultOf($answer);
            if ($fault === null) {
                // Whose numbers these are, where the service says so.
                return ['epoch' => $headers['x-feed-epoch'] ?? null] + $answer;
            }
            if ($attempt >= min($this->attempts, self::PAGE_ATTEMPTS)) {
                throw new PropertyFeedException('invalid_answer', $fault . self::IS_CACHED);
            }
            usleep(random_int(0, 250 * 2 ** $attempt) * 1000);
        }
    }

    /** Why this cannot be the answer to the request. @param array<string, mixed> $query @param array<string, mixed> $answer */
    private static function otherPage(array $query, array $answer): ?string
    {
        ['page' => $page, 'pageSize' => $size, 'items' => $items] = $answer;
        if ($page !== $query['page']) {
            return "The request was for page {$query['page']}, and the answer is page $page.";
        }
        if ($size < 1 || $size > $query['pageSize'] || count($items) > $size) {
            return "The request was for pageSize {$query['pageSize']}, and the answer has pageSize $size and " . count($items) . ' items.';
        }
        // A day, since a server may read the bound in its own time.
        $from = isset($query['from']) ? gmdate('Y-m-d\TH:i:s', strtotime("{$query['from']} UTC") - 86_400) : '';
        foreach ($items as ['createdDate' => $createdDate]) {
            if ($createdDate !== '' && $createdDate < $from) {
                return "The request was for events from {$query['from']}, and the answer has one of $createdDate.";
            }
        }
        return null;
    }

    /** @param list<int> $numbers */
    private static function rises(array $numbers): bool
    {
        foreach ($numbers as $index => $number) {
            if ($index > 0 && $number <= $numbers[$index - 1]) {
                return false;
            }
        }
        return true;
    }

    /** Keeps the latest event of each property, unless the copy has it or a later one. @param array<string, mixed> $event */
    private function gather(array $event): void
    {
        $this->checkTenant($event);
        [$payload, $event['payload'], $reason] = self::payloadOf($event['payload']);
        $named = $payload === null ? self::referenceIn($event['payload']) : ($payload['agent_ref'] ?? '');
        $ref = strtolower(is_string($named) && $named !== '' ? $named : $event['transactionId']);
        $number = $event['sequenceNumber'];
        if ($number <= ($this->state['applied'][$ref][0] ?? -1) || $number <= ($this->gathered[$ref]['number'] ?? -1)) {
            return;
        }
        $kind = $this->isRemoval($event, $payload) ? 'remove' : ($payload === null ? 'odd' : 'upsert');
        $this->gathered[$ref] = ['kind' => $kind, 'ref' => $ref, 'number' => $number, 'payload' => $payload ?? [], 'event' => $event]
            + ($kind === 'odd' ? ['reason' => $reason] : []);
        $text = $event['payload'];
        $this->gatheredBytes += 2 * strlen($text) + 400 * (substr_count($text, '{') + substr_count($text, '['));
    }

    private function forgetGathered(): void
    {
        [$this->gathered, $this->gatheredBytes] = [[], 0];
    }

    /** Of every event: a cache or proxy may mix the answers of several agencies. @param array<string, mixed> $event */
    private function checkTenant(array $event): void
    {
        $tenant = is_string($event['tenantId'] ?? null) ? $event['tenantId'] : '';
        $this->state['tenant'] ??= $tenant === '' ? null : $tenant;
        if ($tenant !== '' && strcasecmp($tenant, $this->state['tenant']) !== 0) {
            throw new PropertyFeedException('invalid_answer', "The copy is of tenant {$this->state['tenant']}, and the answer has event {$event['sequenceNumber']} "
                . 'of tenant ' . self::shown($tenant) . '. Is the key still the same? Is there a cache in front of the service that mixes answers?');
        }
    }

    /**
     * A payload as an array, null for one that cannot be read; its text; and why it cannot be read. A number beyond all numbers becomes
     * null and half of a surrogate pair U+FFFD, since neither is a value that could be kept.
     *
     * @return array{array<string, mixed>|null, string, string}
     */
    private static function payloadOf(string $text): array
    {
        if (strlen($text) > self::PAYLOAD_BYTES) {
            return [null, '', 'The payload is longer than ' . self::PAYLOAD_BYTES . ' bytes.'];
        }
        if (self::hasTooMany($text, self::PAYLOAD_PARTS)) {
            return [null, '', 'The payload has more parts than a property can have.'];
        }
        $text = self::mended($text);
        $payload = json_decode($text, true, self::PAYLOAD_LEVELS, JSON_INVALID_UTF8_SUBSTITUTE);
        $problem = json_last_error();
        return match (true) {
            $problem === JSON_ERROR_DEPTH => [null, $text, 'The payload has more than ' . self::PAYLOAD_LEVELS . ' levels.'],
            $problem !== JSON_ERROR_NONE => [null, $text, 'The payload is no JSON: ' . json_last_error_msg() . '.'],
            is_string($payload) => [null, $text, 'The payload is a text: it was written as JSON twice, perhaps.'],
            str_starts_with(ltrim($text), '{') => [$payload, $text, ''],
            default => [null, $text, 'The payload is no object.'],
        };
    }

    /** The reference in the text of a payload that cannot be read. */
    private static function referenceIn(string $text): string
    {
        return preg_match('/"agent_ref\\\\?"\s*:\s*\\\\?"([^"\\\\]{1,200})\\\\?"/', $text, $match) === 1 ? $match[1] : '';
    }

    /** Where lists and objects would take much more memory than the text that they were read from. */
    private static function hasTooMany(string $text, int $parts): bool
    {
        if (strlen($text) <= self::PLAIN_BYTES) {
            return false;
        }
        $signs = preg_replace('/' . self::TEXT . '|\s++/s', '', $text);
        return $signs === null || strlen($signs) > self::SIGNS || substr_count($signs, '{') + substr_count($signs, '[') > $parts;
    }

    /** JSON of an answer; null for what is none. */
    private static function json(string $text): mixed
    {
        $value = json_decode(self::mended($text), true, self::LEVELS, JSON_INVALID_UTF8_SUBSTITUTE);
        return json_last_error() === JSON_ERROR_NONE ? $value : null;
    }

    private static function mended(string $text): string
    {
        if (preg_match('/\d(?:[eE]\+?\d{3}|\d{308})/', $text) === 1) {
            $number = '-?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+';
            $text = preg_replace_callback('/' . self::TEXT . "(*SKIP)(*FAIL)|$number/s", static fn (array $found): string => is_infinite((float) $found[0]) ? 'null' : $found[0], $text) ?? $text;
        }
        if (preg_match('/\\\\u[dD][89a-fA-F]/', $text) !== 1) {
            return $text;
        }
        $pair = 'u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2}';
        $half = static fn (array $found): string => isset($found[1]) ? '\\ufffd' : $found[0];
        return preg_replace_callback("/\\\\(?:$pair|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)/s", $half, $text) ?? $text;
    }

    /** @param array<string, mixed> $event @param array<string, mixed>|null $payload null: it cannot be read */
    private function isRemoval(array $event, ?array $payload): bool
    {
        if ($event['eventTypeShortCode'] === 'PropertyUnpublished') {
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
        $isFull = count($this->gathered) >= max(self::BATCH, intdiv(count($this->state['applied'] ?? []), 8));
        if ($isFull || $this->gatheredBytes > self::BATCH_BYTES) {
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
        [$status, $body, $headers, $answer] = $this->request($path, ['prefix' => $prefix, 'apiEventType' => $this->apiEventType]);
        if ($status !== 200 || !is_string($answer['digest'] ?? null)) {
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
        $counted = $this->breaker->count($this->state['removals'], (int) (microtime(true) * 1000), $held, count($going));
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
        $this->forgetGathered();
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
     * @param mixed $value the body, read
     * @return array<string, mixed>
     */
    private function decoded(string $path, int $status, string $body, array $members, array $headers, mixed $value): array
    {
        if ($status !== 200) {
            throw $this->refusal($path, $status, $body, $headers);
        }
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
        $isShort = static fn (mixed $text): bool => !is_string($text) || strlen($text) <= 1_000;
        $isEvent = is_array($value) && is_int($value['sequenceNumber'] ?? null) && is_string($value['id'] ?? null) && $value['id'] !== ''
            && $isShort($value['id']) && $isShort($value['transactionId'] ?? '') && $isShort($value['tenantId'] ?? '');
        if (!$isEvent) {
            return null;
        }
        $payload = $value['payload'] ?? '';
        // {} and [] are one in an array.
        $payload = $payload === [] ? '{}' : $payload;
        $value['payload'] = is_array($payload) ? (string) json_encode($payload, JSON_PRESERVE_ZERO_FRACTION, self::LEVELS) : (is_string($payload) ? $payload : '');
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
     * @return array{int, string, array<string, string>, mixed} status, body, headers, and the body read as JSON
     */
    private function request(string $path, array $query, int $wait = 0, ?array $sends = null): array
    {
        for ($attempt = 1; ; $attempt++) {
            $answer = $this->open($path, $query, $wait, $sends);
            [$status, $headers, $body] = [$answer?->status ?? 0, $answer?->headers ?? [], $answer?->body(self::ANSWER_BYTES) ?? ''];
            $answer?->close();
            if ($answer?->isLonger === true) {
                throw $this->tooLong($path, 'more', self::ANSWER_BYTES);
            }
            if (self::hasTooMany($body, self::PARTS)) {
                throw new PropertyFeedException('invalid_answer', "$path was answered with more parts than it can have. Ask for fewer events at once (pageSize), if they are right.");
            }
            $json = self::json($body);
            $isCut = $status === 200 && (!$answer->isWhole || ($json === null && str_starts_with(ltrim($body), '{')));
            // What a 409 means stands in its body.
            $isCut = $isCut || ($status === 409 && $json === null);
            if (!$isCut && !in_array($status, self::PASSING, true)) {
                return [$status, $body, $headers, $json];
            }
            $problem = "$path was answered with status $status" . ($isCut ? ', cut off.' : '.');
            $this->waitBefore($attempt + 1, $headers, $status === 0 ? $this->silence : $problem);
        }
    }

    private function tooLong(string $path, string $what, int $bytes): PropertyFeedException
    {
        return new PropertyFeedException('invalid_answer', "$path was answered with $what than " . intdiv($bytes, 2 ** 20)
            . ' MB, which is longer than it can be. Ask for fewer events at once (pageSize), if they are right.');
    }

    /**
     * @param array<string, int|string> $query
     * @param array{string, string}|null $sends method and body, JSON; null: GET
     */
    private function open(string $path, array $query, int $wait = 0, ?array $sends = null): ?FeedAnswer
    {
        $lines = ["x-api-key: {$this->key}", 'accept: */*', ...($this->consumer === null ? [] : ["x-feed-consumer: {$this->consumer}"]),
            ...($sends === null ? [] : ['content-type: application/json'])];
        $text = $query === [] ? '' : '?' . http_build_query($query, '', '&', PHP_QUERY_RFC3986);
        try {
            $url = rtrim($this->baseUrl, '/') . $path . $text;
            return FeedAnswer::to($url, $lines, $sends ?? ['GET', null], $this->timeoutSeconds + $wait);
        } catch (FeedSilence $silence) {
            $reason = rtrim(self::shown($silence->getMessage()), '.');
            $this->silence = $this->address() . ' ' . match ($silence->problem) {
                'certificate' => "shows a certificate that cannot be verified: $reason. Nothing was sent to it. See that the address is right; "
                    . 'whoever runs the service can renew its certificate, and openssl.cafile in php.ini names the issuers that this PHP trusts.',
                'tls' => "does not speak TLS as it should: $reason. See that https:// and the port are right.",
                'invalid_answer' => "does not answer as a feed does: $reason.",
                default => "does not answer: $reason. See that the address is right and that the service runs.",
            };
            if ($silence->isFinal) {
                throw new PropertyFeedException($silence->problem, $this->silence);
            }
            return null;
        }
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
     * @param string $problem unreachable, unavailable (it may pass), certificate, tls, key_refused, redirected, refused, invalid_answer,
     *   checkpoint or mass_removal
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
        [$gone, $most] = [$removedBefore + count($refs), $held + $removedBefore];
        $these = count($refs) === 1 ? 'this one' : 'these ' . number_format(count($refs));
        $this->summary = "Stopped: with $these, " . number_format($gone) . ' of ' . number_format($most)
            . " in the copy would be gone within $window (limit " . number_format($limit) . '). '
            . "Nothing was removed, and updates have stopped until this is settled.";
        parent::__construct('mass_removal', $this->summary . ' To allow it once: $allowMassRemoval. '
            . 'If it is a mistake, have them published again and run the sync as usual; nothing is lost by waiting.');
    }
}

/** Whether the pages of one walk fit together: each continues the one before it, and together they have what the totals say. */
final class WalkCheck
{
    /** So many neighbours in order show that a server orders its events by number; by chance that does not happen. */
    private const CONVINCING = 20;

    /** The same pages are walked once more. */
    public bool $isAgain = false;
    /** @var array<int, true> by number */
    private array $seen = [];
    /** @var array<int, int> by page, how many events fewer than its place in the list says: some servers leave events out of their pages */
    private array $holes = [];
    /** @var array{page: int, pageSize: int, availableCount: int, last: int|null}|null */
    private ?array $before = null;
    private int $rising = 0;
    private int $falling = 0;

    /** Why the page cannot follow the page before it. Changes nothing. @param array<string, mixed> $answer */
    public function faultOf(array $answer): ?string
    {
        if ($this->before === null) {
            return null;
        }
        ['page' => $page, 'pageSize' => $size, 'last' => $last] = $this->before;
        if ($answer['pageSize'] !== $size) {
            return "Page {$answer['page']} has pageSize {$answer['pageSize']}, and page $page had pageSize $size.";
        }
        [$rising, $falling] = $this->order($answer['items']);
        $sign = $falling === 0 && $rising >= self::CONVINCING ? 1 : ($rising === 0 && $falling >= self::CONVINCING ? -1 : 0);
        if ($answer['page'] !== $page + 1 || $sign === 0 || $last === null) {
            return null;
        }
        $isRepeated = static fn (array $event): bool => $sign * ($event['sequenceNumber'] - $last) <= 0;
        $repeated = array_values(array_filter($answer['items'], $isRepeated));
        // Events that appeared on earlier pages meanwhile have moved as many to this one.
        if (count($repeated) <= max(0, $answer['availableCount'] - $this->before['availableCount'])) {
            return null;
        }
        return "The answer for page {$answer['page']} does not continue page $page, which ended with number $last: it has number "
            . "{$repeated[0]['sequenceNumber']}.";
    }

    /** The events of a page have been read. @param array<string, mixed> $answer */
    public function note(array $answer): void
    {
        [$this->rising, $this->falling] = $this->order($answer['items']);
        $expected = min($answer['pageSize'], $answer['availableCount'] - ($answer['page'] - 1) * $answer['pageSize']);
        $this->holes[$answer['page']] = max(0, $expected - count($answer['items']));
        $this->noteEvents($answer['items']);
        $last = $answer['items'] === [] ? null : $answer['items'][array_key_last($answer['items'])]['sequenceNumber'];
        $this->before = ['last' => $last] + $answer;
        unset($this->before['items']);
    }

    /** Events that were read out of turn, such as those of the last page. @param list<array<string, mixed>> $events */
    public function noteEvents(array $events): void
    {
        $this->seen += array_fill_keys(array_column($events, 'sequenceNumber'), true);
    }

    /** How many events of `$total` no page has shown, given the walk's last page. @param array<string, mixed> $last */
    public function missing(int $total, array $last): int
    {
        // After two empty pages, the ones between them were not asked for.
        $notAsked = $last['page'] < $last['totalPages'] ? max(0, $last['availableCount'] - $last['page'] * $last['pageSize']) : 0;
        return $total - count($this->seen) - array_sum($this->holes) - $notAsked;
    }

    public function again(): void
    {
        [$this->holes, $this->before, $this->isAgain] = [[], null, true];
    }

    /** @param list<array<string, mixed>> $events @return array{int, int} neighbours that rise and that fall, with those of earlier pages */
    private function order(array $events): array
    {
        [$rising, $falling] = [$this->rising, $this->falling];
        foreach (array_slice($events, 1) as $index => $event) {
            $event['sequenceNumber'] > $events[$index]['sequenceNumber'] ? $rising++ : $falling++;
        }
        return [$rising, $falling];
    }
}

/** There was no answer, and why. */
final class FeedSilence extends RuntimeException
{
    /**
     * @param string $problem unreachable, certificate, tls or invalid_answer
     * @param bool $isFinal no further attempt would better it
     */
    public function __construct(string $message, public readonly string $problem = 'unreachable', public readonly bool $isFinal = false)
    {
        parent::__construct($message);
    }
}

/**
 * One answer over HTTP/1.1, read piece by piece and no further than asked. PHP's own reading keeps headers without end in memory, and does
 * not say whether a body is whole.
 */
final class FeedAnswer
{
    private const HEADER_BYTES = 64 * 1024;
    private const PIECE_BYTES = 64 * 1024;
    /** For the headers, a body, a line: a byte from time to time is an answer that never comes. */
    private const LONGEST_SECONDS = 300;
    /** Of TLS, what waiting mends. */
    private const PASSING = '/reset|broken pipe|timed out|unexpected eof/i';

    /** The body is longer than was asked for. */
    public bool $isLonger = false;
    /** The body has been read to the end that its length names. */
    public bool $isWhole = false;
    public int $status = 0;
    /** @var array<string, string> in lower case */
    public array $headers = [];
    private bool $isOver = false;
    private bool $isChunked = false;
    /** Bytes of the body, or of its chunk, that are still to come; null: as long as the connection lasts. */
    private ?int $left = null;
    /** What came and was not taken yet: of the connection, and of the body. */
    private string $raw = '';
    private string $buffer = '';
    private float $endsAt = INF;

    /** @param resource $stream */
    private function __construct(private $stream)
    {
    }

    /**
     * @param list<string> $lines headers
     * @param array{string, string|null} $sends method and body
     * @param int $timeoutSeconds of silence
     * @throws FeedSilence
     */
    public static function to(string $url, array $lines, array $sends, int $timeoutSeconds): self
    {
        $parts = parse_url($url);
        $user = isset($parts['user']) ? rawurldecode($parts['user']) . ':' . rawurldecode($parts['pass'] ?? '') : null;
        [$method, $body] = $sends;
        $target = ($parts['path'] ?? '/') . (isset($parts['query']) ? "?{$parts['query']}" : '');
        $head = [
            "$method $target HTTP/1.1",
            "host: {$parts['host']}" . (isset($parts['port']) ? ":{$parts['port']}" : ''),
            'connection: close',
            'user-agent: property-feed-php',
            ...$lines,
            ...($user === null ? [] : ['authorization: Basic ' . base64_encode($user)]),
            ...($body === null ? [] : ['content-length: ' . strlen($body)]),
        ];
        $answer = new self(self::connect($parts, $timeoutSeconds));
        $text = implode("\r\n", $head) . "\r\n\r\n$body";
        for ($sent = 0; $sent < strlen($text); $sent += $written) {
            $written = @fwrite($answer->stream, substr($text, $sent));
            if ($written === false || $written === 0) {
                // There may be an answer all the same.
                break;
            }
        }
        do {
            $answer->readHead($timeoutSeconds);
        } while ($answer->status >= 100 && $answer->status < 200);
        return $answer;
    }

    /** @param array<string, mixed> $parts of the address @return resource */
    private static function connect(array $parts, int $timeoutSeconds)
    {
        $isSecure = strtolower($parts['scheme']) === 'https';
        $remote = ($isSecure ? 'ssl' : 'tcp') . "://{$parts['host']}:" . ($parts['port'] ?? ($isSecure ? 443 : 80));
        $warnings = [];
        set_error_handler(static function (int $level, string $message) use (&$warnings): bool {
            $warnings[] = preg_replace('~^stream_socket_client\(\): ~', '', $message);
            return true;
        });
        try {
            $context = stream_context_create(['ssl' => ['peer_name' => trim($parts['host'], '[]')]]);
            $stream = stream_socket_client($remote, $code, $reason, $timeoutSeconds, STREAM_CLIENT_CONNECT, $context);
        } finally {
            restore_error_handler();
        }
        if ($stream !== false) {
            stream_set_timeout($stream, $timeoutSeconds);
            return $stream;
        }
        $said = implode("\n", $warnings);
        if (preg_match('/certificate|peer_name|did not match/i', $said) === 1) {
            throw new FeedSilence(self::certificateFault($remote, $said), 'certificate', true);
        }
        if ($isSecure && preg_match('/SSL|crypto|TLS/', $said) === 1) {
            $words = preg_match('/error:[^:]*:[^:]*:[^:]*:([^\n]+)/', $said, $match) === 1 ? $match[1] : ($warnings[0] ?? 'TLS failed');
            throw new FeedSilence($words, 'tls', preg_match(self::PASSING, $words) !== 1);
        }
        $hasNoName = preg_match('/getaddrinfo.*(?:not known|No address|no such host|nodename)/i', "$reason $said") === 1;
        throw new FeedSilence($hasNoName ? "there is no host with the name {$parts['host']}" : ($reason !== '' ? $reason : ($warnings[0] ?? 'nothing came')), isFinal: $hasNoName);
    }

    /** OpenSSL says only that it does not trust it, so the certificate is looked at; nothing is sent. */
    private static function certificateFault(string $remote, string $said): string
    {
        $context = stream_context_create(['ssl' => ['verify_peer' => false, 'verify_peer_name' => false, 'capture_peer_cert' => true]]);
        $stream = @stream_socket_client($remote, $code, $reason, 5, STREAM_CLIENT_CONNECT, $context);
        $kept = $stream === false ? null : (stream_context_get_params($stream)['options']['ssl']['peer_certificate'] ?? null);
        $facts = $kept === null ? false : openssl_x509_parse($kept);
        $now = time();
        return match (true) {
            $facts === false => 'certificate verify failed',
            $facts['validTo_time_t'] < $now => 'it expired on ' . gmdate('Y-m-d', $facts['validTo_time_t']),
            $facts['validFrom_time_t'] > $now => 'it is not valid before ' . gmdate('Y-m-d', $facts['validFrom_time_t']),
            str_contains($said, 'did not match') => 'it was made for another name than this one',
            $facts['subject'] === $facts['issuer'] => 'it is signed by nobody but itself',
            default => 'its issuer is not known here',
        };
    }

    private function readHead(int $timeoutSeconds): void
    {
        [$this->headers, $bytes, $lines] = [[], 0, []];
        $this->endsAt = self::now() + min(self::LONGEST_SECONDS, 2 * $timeoutSeconds);
        do {
            $line = $this->rawLine(self::HEADER_BYTES - $bytes);
            if ($line === null) {
                $isLong = strlen($this->raw) > self::HEADER_BYTES - $bytes;
                $isSlow = stream_get_meta_data($this->stream)['timed_out'] || self::now() > $this->endsAt;
                $this->close();
                throw $isLong
                    ? new FeedSilence('its headers are longer than 64 KB', 'invalid_answer', true)
                    : new FeedSilence($isSlow ? "nothing came within $timeoutSeconds seconds" : 'the connection ended before an answer came');
            }
            $bytes += strlen($line);
            $lines[] = rtrim($line, "\r\n");
        } while (end($lines) !== '');
        if (preg_match('~^HTTP/1\.[01] (\d{3})~', $lines[0], $match) !== 1) {
            $this->close();
            throw new FeedSilence('the answer is not HTTP/1.1');
        }
        $this->status = (int) $match[1];
        foreach (array_slice($lines, 1, -1) as $line) {
            [$name, $value] = array_pad(explode(':', $line, 2), 2, '');
            $this->headers[strtolower($name)] = trim($value);
        }
        $this->isChunked = str_contains(strtolower($this->headers['transfer-encoding'] ?? ''), 'chunked');
        $length = $this->headers['content-length'] ?? '';
        $this->left = $this->isChunked ? 0 : (ctype_digit($length) ? (int) $length : null);
        if ($this->status === 204 || $this->status === 304 || (!$this->isChunked && $this->left === 0)) {
            $this->isOver = $this->isWhole = true;
        }
    }

    /** The body, or what came of it, and no more than so many bytes. */
    public function body(int $most): string
    {
        $this->endsAt = self::now() + self::LONGEST_SECONDS;
        $body = '';
        while (strlen($body) <= $most && ($piece = $this->piece()) !== '') {
            $body .= $piece;
        }
        $this->isLonger = strlen($body) > $most;
        return $this->isLonger ? '' : $body;
    }

    /** The next whole line; '' for one that is longer than so many bytes; null where there is none any more. */
    public function line(int $most): ?string
    {
        $this->endsAt = self::now() + self::LONGEST_SECONDS;
        for ($from = 0; ($end = strpos($this->buffer, "\n", $from)) === false; ) {
            $from = strlen($this->buffer);
            if ($from > $most) {
                return '';
            }
            $piece = $this->piece();
            if ($piece === '') {
                return null;
            }
            $this->buffer .= $piece;
        }
        $line = substr($this->buffer, 0, $end + 1);
        $this->buffer = substr($this->buffer, $end + 1);
        return $line;
    }

    public function close(): void
    {
        $this->isOver = true;
        if (is_resource($this->stream)) {
            fclose($this->stream);
        }
    }

    /** What comes next of the body; '' at its end, and where the connection ends or is silent. */
    private function piece(): string
    {
        if ($this->isChunked && $this->left === 0 && !$this->isOver) {
            $size = $this->rawLine(256);
            $isSize = preg_match('/^([0-9a-f]{1,8})[ \t]*(?:;.*)?\r?\n\z/i', (string) $size, $match) === 1;
            $this->left = $isSize ? (int) hexdec($match[1]) : 0;
            [$this->isOver, $this->isWhole] = [$this->left === 0, $isSize && $this->left === 0];
        }
        if ($this->isOver) {
            return '';
        }
        if ($this->raw === '' && !$this->fill()) {
            $this->isOver = true;
            $this->isWhole = $this->left === null && feof($this->stream) && !stream_get_meta_data($this->stream)['timed_out'];
            return '';
        }
        $piece = $this->left === null ? $this->raw : substr($this->raw, 0, $this->left);
        $this->raw = substr($this->raw, strlen($piece));
        if ($this->left !== null) {
            $this->left -= strlen($piece);
            if ($this->left === 0 && $this->isChunked) {
                $this->rawLine(2);
            }
            if ($this->left === 0 && !$this->isChunked) {
                $this->isOver = $this->isWhole = true;
            }
        }
        return $piece;
    }

    /** A line of the connection, without more than so many bytes before its end; null where none comes. */
    private function rawLine(int $most): ?string
    {
        while (($end = strpos($this->raw, "\n")) === false) {
            if (strlen($this->raw) > $most || !$this->fill()) {
                return null;
            }
        }
        if ($end > $most) {
            return null;
        }
        $line = substr($this->raw, 0, $end + 1);
        $this->raw = substr($this->raw, $end + 1);
        return $line;
    }

    private function fill(): bool
    {
        $piece = self::now() > $this->endsAt ? '' : (string) @fread($this->stream, self::PIECE_BYTES);
        $this->raw .= $piece;
        return $piece !== '';
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
