<?php

declare(strict_types=1);

require_once __DIR__ . '/PropertyFeed.php';
require_once __DIR__ . '/PropertyListing.php';

/**
 * A website's listings in SQLite, MySQL or MariaDB, kept in step with a feed: names in place of codes, prices as text and what
 * they were, photographs in their order, and what was removed, for pages that answer 410. PHP 8.1 or later with PDO and the
 * driver of the database; four files (this one, PropertyFeed.php, PropertyListing.php and CodeNames.php).
 *
 *     $tables = new PropertyTables(new PDO('sqlite:website.db'));
 *     $tables->create();
 *     $feed->sync($tables->checkpoint(...), $tables->apply(...), $tables);
 *
 * Rows and checkpoint are written in one transaction. A listing that the database refuses, or whose payload cannot be read, stays as it
 * was, and `$refused` says why; all others are written. Moments are in UTC, lists and the payload are JSON texts. Only the columns
 * named `…_html` may stand in a page as they are; escape all others. docs/consuming.md explains the columns.
 */
final class PropertyTables implements PropertyCopy
{
    /** {p}: the prefix; {key}, {text}, {options}: what each database calls them. */
    private const TABLES = [
        'listing_feed' => 'CREATE TABLE {p}listing_feed (
  only_row INTEGER NOT NULL PRIMARY KEY,
  checkpoint {text} NOT NULL,
  writes BIGINT NOT NULL,
  changed_at DATETIME(3) NOT NULL
){options}',
        'listings' => 'CREATE TABLE {p}listings (
  reference {key} NOT NULL PRIMARY KEY,
  category VARCHAR(10) NOT NULL,
  status_code INTEGER,
  status {text},
  is_available SMALLINT NOT NULL,
  type_code INTEGER,
  type {text},
  is_new_home SMALLINT NOT NULL,
  agent_reference {text},
  branch_id {text},
  price DOUBLE,
  price_text {text},
  price_qualifier {text},
  rent_frequency_code INTEGER,
  rent_frequency {text},
  rent_per_month DOUBLE,
  deposit DOUBLE,
  first_price DOUBLE,
  last_price DOUBLE,
  previous_price DOUBLE,
  price_changed_at DATETIME(3),
  display_address {text},
  address_lines {text} NOT NULL,
  town {text},
  postcode {text},
  latitude DOUBLE,
  longitude DOUBLE,
  bedrooms INTEGER,
  bathrooms INTEGER,
  reception_rooms INTEGER,
  tenure {text},
  lease_years INTEGER,
  furnished {text},
  let_type {text},
  council_tax_band {text},
  energy_rating {text},
  main_photograph {text},
  main_photograph_caption {text},
  photograph_count INTEGER NOT NULL,
  available_on DATE,
  added_on DATE,
  changed_on DATE,
  published_at DATETIME(3),
  first_seen_at DATETIME(3),
  sequence_number BIGINT NOT NULL,
  is_stale SMALLINT NOT NULL,
  features {text} NOT NULL,
  summary_text {text} NOT NULL,
  summary_html {text} NOT NULL,
  description_text {text} NOT NULL,
  description_html {text} NOT NULL,
  payload {text} NOT NULL
){options}',
        'listing_media' => 'CREATE TABLE {p}listing_media (
  reference {key} NOT NULL,
  kind VARCHAR(20) NOT NULL,
  position INTEGER NOT NULL,
  url {text} NOT NULL,
  caption {text} NOT NULL,
  type {text},
  PRIMARY KEY (reference, kind, position)
){options}',
        'listing_removed' => 'CREATE TABLE {p}listing_removed (
  reference {key} NOT NULL PRIMARY KEY,
  removed_at DATETIME(3) NOT NULL,
  reason {text},
  is_erased SMALLINT NOT NULL
){options}',
        'listings_by_price' => 'CREATE INDEX {p}listings_by_price ON {p}listings (category, price)',
    ];
    private const WORDS = [
        'sqlite' => ['{key}' => 'VARCHAR(200)', '{text}' => 'TEXT', '{options}' => ''],
        // MEDIUMTEXT takes 16 MB; a text that is too long for its column would stop the sync for good.
        'mysql' => [
            '{key}' => 'VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
            '{text}' => 'MEDIUMTEXT',
            '{options}' => ' ENGINE=InnoDB DEFAULT CHARSET=utf8mb4',
        ],
    ];
    private const MEDIA_KINDS = [
        'photograph' => 'photographs',
        'floor_plan' => 'floorPlans',
        'energy_certificate' => 'energyCertificates',
        'tour' => 'tours',
        'document' => 'documents',
        'other' => 'otherMedia',
    ];
    private const AVAILABLE = 1;
    private const LARGEST_INTEGER = 2_147_483_647;

    /** SQLSTATE of refusals that have to do with the values alone: they do not fit, break a rule, or a trigger does not want them. */
    private const OF_VALUES = '/^(?:22|23|45)/';
    /** The same of SQLite, which has no other: too big, a rule or a trigger, a wrong type. */
    private const OF_VALUES_SQLITE = [18, 19, 20];

    /** @var array<string, string> by reference, why its latest version was not written */
    public array $refused = [];
    /** Number of batches that were written when the checkpoint was loaded, and since. */
    private int $writes = -1;
    /** @var array<string, PDOStatement> by their text */
    private array $prepared = [];
    private readonly string $driver;

    /**
     * @param string $prefix begins the name of each table
     * @param 'sales'|'lettings'|null $category where the feed is read with salesproperty or lettingsproperty
     */
    public function __construct(private readonly PDO $db, private readonly string $prefix = '', private readonly ?string $category = null)
    {
        $this->driver = $db->getAttribute(PDO::ATTR_DRIVER_NAME);
        if (!isset(self::WORDS[$this->driver])) {
            throw new RuntimeException("PropertyTables knows sqlite and mysql, not $this->driver.");
        }
        if (preg_match('/^[a-z0-9_]{0,30}\z/', $prefix) !== 1) {
            throw new RuntimeException("The prefix \"$prefix\" must be small letters, digits and _, at most 30.");
        }
        $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        if ($this->driver === 'sqlite') {
            $db->setAttribute(PDO::ATTR_TIMEOUT, 10);
            // What is removed is overwritten: it may have been erased for good.
            $db->exec('PRAGMA secure_delete = ON');
        } else {
            $db->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
            // A text that does not fit is an error, and not cut.
            $db->exec('SET NAMES utf8mb4');
            $db->exec("SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE'");
        }
    }

    /** The statements that make the tables. @return array<string, string> by the name of what each makes */
    public function statements(): array
    {
        $words = self::WORDS[$this->driver] + ['{p}' => $this->prefix];
        return array_map(static fn (string $statement): string => strtr($statement, $words), self::TABLES);
    }

    /** Makes the tables where there are none. Throws where a table of the same name is somebody else's. */
    public function create(): void
    {
        // The table of the checkpoint is made last: where it is, all are.
        if ($this->exists('listing_feed')) {
            return;
        }
        $statements = $this->statements();
        foreach (['listings', 'listing_media', 'listing_removed'] as $table) {
            if ($this->exists($table)) {
                throw new RuntimeException("The database has a table $this->prefix$table that PropertyTables did not make, or did not make whole. Choose a prefix, or drop it.");
            }
        }
        if ($this->driver === 'sqlite') {
            $this->db->exec('PRAGMA journal_mode = WAL');
            $this->db->beginTransaction();
        }
        foreach ([...array_diff_key($statements, ['listing_feed' => '']), $statements['listing_feed']] as $statement) {
            $this->db->exec($statement);
        }
        if ($this->db->inTransaction()) {
            $this->db->commit();
        }
    }

    private function exists(string $table): bool
    {
        $query = $this->driver === 'sqlite'
            ? 'SELECT count(*) FROM sqlite_master WHERE lower(name) = ?'
            : 'SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_name = ?';
        return (int) $this->column($query, [$this->prefix . $table])[0] > 0;
    }

    public function checkpoint(): ?string
    {
        $row = $this->run("SELECT checkpoint, writes FROM {$this->prefix}listing_feed WHERE only_row = 1")->fetchAll(PDO::FETCH_ASSOC)[0] ?? null;
        $this->writes = (int) ($row['writes'] ?? 0);
        return $row['checkpoint'] ?? null;
    }

    /** @param list<array<string, mixed>> $changes @param array{startsOver: bool, complete: bool} $phase */
    public function apply(array $changes, string $checkpoint, array $phase): void
    {
        $this->db->beginTransaction();
        try {
            // First, so that a second sync waits here, and then finds that it is not the only one.
            $this->keep($checkpoint);
            if ($phase['startsOver']) {
                $this->run("UPDATE {$this->prefix}listings SET is_stale = 1");
            }
            foreach ($changes as $change) {
                if (self::isUsable($change['ref'])) {
                    $this->take($change);
                }
            }
            foreach ($phase['complete'] ? $this->stale() : [] as $reference) {
                $this->remove($reference, null);
            }
            $this->db->commit();
            $this->writes++;
        } catch (Throwable $problem) {
            if ($this->db->inTransaction()) {
                $this->db->rollBack();
            }
            throw $problem;
        }
    }

    /** @param array<string, mixed> $change */
    private function take(array $change): void
    {
        unset($this->refused[$change['ref']]);
        if ($change['kind'] === 'remove') {
            $this->remove($change['ref'], $change);
            return;
        }
        $refusal = $change['kind'] === 'odd' ? $change['reason'] : $this->refusalOf($change);
        if ($refusal !== null) {
            $this->refused[$change['ref']] = $refusal;
            // It is not gone from the feed.
            $this->run("UPDATE {$this->prefix}listings SET is_stale = 0 WHERE reference = ?", [$change['ref']]);
        }
    }

    /** Puts it, or says why the database does not take it. @param array<string, mixed> $change */
    private function refusalOf(array $change): ?string
    {
        $this->db->exec('SAVEPOINT one_listing');
        try {
            $this->put($change);
            $this->db->exec('RELEASE SAVEPOINT one_listing');
            return null;
        } catch (PDOException $problem) {
            [$state, $code] = $problem->errorInfo ?? ['', 0];
            $isOfValues = $this->driver === 'sqlite' ? in_array($code, self::OF_VALUES_SQLITE, true) : preg_match(self::OF_VALUES, (string) $state) === 1;
            if (!$isOfValues) {
                throw $problem;
            }
            $this->db->exec('ROLLBACK TO SAVEPOINT one_listing');
            return 'The database refused it: ' . ($problem->errorInfo[2] ?? $problem->getMessage());
        }
    }

    public function count(): int
    {
        return (int) $this->column("SELECT count(*) FROM {$this->prefix}listings")[0];
    }

    public function held(array $refs): array
    {
        $usable = array_values(array_filter($refs, self::isUsable(...)));
        if ($usable === []) {
            return [];
        }
        $marks = implode(', ', array_fill(0, count($usable), '?'));
        return $this->column("SELECT reference FROM {$this->prefix}listings WHERE reference IN ($marks)", $usable);
    }

    public function stale(): array
    {
        return $this->column("SELECT reference FROM {$this->prefix}listings WHERE is_stale = 1");
    }

    private function keep(string $checkpoint): void
    {
        $now = (new DateTimeImmutable('now', new DateTimeZone('UTC')))->format('Y-m-d H:i:s.v');
        $ignore = $this->driver === 'sqlite' ? 'INSERT OR IGNORE' : 'INSERT IGNORE';
        $written = $this->writes === 0
            ? $this->run("$ignore INTO {$this->prefix}listing_feed (only_row, checkpoint, writes, changed_at) VALUES (1, ?, 1, ?)", [$checkpoint, $now])
            : $this->run("UPDATE {$this->prefix}listing_feed SET checkpoint = ?, writes = writes + 1, changed_at = ? WHERE writes = ?", [$checkpoint, $now, $this->writes]);
        if ($written->rowCount() !== 1) {
            throw new RuntimeException('Another sync has written to these tables meanwhile, so this one stopped and wrote nothing more. Run one at a time.');
        }
    }

    /** @param array<string, mixed> $change */
    private function put(array $change): void
    {
        $reference = $change['ref'];
        $listing = PropertyListing::of($change['payload'], $this->category);
        $old = $this->run("SELECT category, rent_frequency_code, first_price, last_price, previous_price, price_changed_at, first_seen_at
            FROM {$this->prefix}listings WHERE reference = ?", [$reference])->fetchAll(PDO::FETCH_ASSOC)[0] ?? [];
        $publishedAt = self::moment($change['event']['createdDate']);
        $row = ['reference' => $reference] + self::cells($listing);
        $row += self::history($row, $publishedAt, $old);
        $row += [
            'published_at' => $publishedAt,
            'first_seen_at' => $old['first_seen_at'] ?? $publishedAt,
            'sequence_number' => $change['number'],
            'is_stale' => 0,
            'payload' => self::payload($change['event']['payload']),
        ];
        $this->replace('listings', $row);
        $this->run("DELETE FROM {$this->prefix}listing_media WHERE reference = ?", [$reference]);
        foreach (self::MEDIA_KINDS as $kind => $member) {
            foreach ($listing[$member] as $index => $medium) {
                $this->replace('listing_media', [
                    'reference' => $reference,
                    'kind' => $kind,
                    'position' => $index + 1,
                    'url' => self::clean($medium['url']),
                    'caption' => self::clean($medium['caption']),
                    'type' => self::name($medium['type']),
                ]);
            }
        }
        $this->run("DELETE FROM {$this->prefix}listing_removed WHERE reference = ?", [$reference]);
    }

    /** @param array<string, mixed>|null $change null: a read of the whole feed has found that it is gone */
    private function remove(string $reference, ?array $change): void
    {
        $this->run("DELETE FROM {$this->prefix}listings WHERE reference = ?", [$reference]);
        $this->run("DELETE FROM {$this->prefix}listing_media WHERE reference = ?", [$reference]);
        $isErased = ($change['payload']['erased'] ?? false) === true;
        $this->replace('listing_removed', [
            'reference' => $reference,
            'removed_at' => self::moment($change['event']['createdDate'] ?? '') ?? self::moment(gmdate('Y-m-d\TH:i:s')),
            'reason' => $change === null || $isErased ? null : self::clean(PropertyListing::of($change['payload'])['removalReason']),
            'is_erased' => (int) $isErased,
        ]);
    }

    /** @param array<string, mixed> $listing @return array<string, mixed> the columns that a listing has of itself */
    private static function cells(array $listing): array
    {
        ['price' => $price, 'address' => $address] = $listing;
        $photograph = $listing['photographs'][0] ?? null;
        return [
            'category' => $listing['category'],
            'status_code' => self::code($listing['status']),
            'status' => self::name($listing['status']),
            'is_available' => (int) ($listing['status'] === null || $listing['status']['code'] === self::AVAILABLE),
            'type_code' => self::code($listing['type']),
            'type' => self::name($listing['type']),
            'is_new_home' => (int) $listing['isNewHome'],
            'agent_reference' => self::clean($listing['agentReference']),
            'branch_id' => self::clean($listing['branchId']),
            'price' => self::amount($price['amount']),
            'price_text' => self::clean($price['text']),
            'price_qualifier' => self::name($price['qualifier']),
            'rent_frequency_code' => self::code($price['rentFrequency']),
            'rent_frequency' => self::name($price['rentFrequency']),
            'rent_per_month' => self::amount($price['rentPerMonth']),
            'deposit' => self::amount($price['deposit']),
            'display_address' => self::clean($address['display']),
            'address_lines' => self::json($address['lines']),
            'town' => self::clean($address['town']),
            'postcode' => self::clean($address['postcode']),
            'latitude' => $address['position']['latitude'] ?? null,
            'longitude' => $address['position']['longitude'] ?? null,
            'bedrooms' => self::whole($listing['bedrooms']),
            'bathrooms' => self::whole($listing['bathrooms']),
            'reception_rooms' => self::whole($listing['receptionRooms']),
            'tenure' => self::name($listing['tenure']),
            'lease_years' => self::whole($listing['leaseYears']),
            'furnished' => self::name($listing['furnished']),
            'let_type' => self::name($listing['letType']),
            'council_tax_band' => self::clean($listing['councilTaxBand']['code'] ?? null),
            'energy_rating' => self::clean($listing['energyRating']['code'] ?? null),
            'main_photograph' => self::clean($photograph['url'] ?? null),
            'main_photograph_caption' => self::clean($photograph['caption'] ?? null),
            'photograph_count' => count($listing['photographs']),
            'available_on' => $listing['availableOn'],
            'added_on' => $listing['addedOn'],
            'changed_on' => $listing['changedOn'],
            'features' => self::json($listing['features']),
            'summary_text' => self::clean($listing['summary']['text']),
            'summary_html' => self::clean($listing['summary']['html']),
            'description_text' => self::clean($listing['description']['text']),
            'description_html' => self::clean($listing['description']['html']),
        ];
    }

    /**
     * What the price was. It begins anew where figures cannot be compared: a sale that becomes a letting, a rent that is paid
     * weekly from now on. A price on application changes nothing.
     *
     * @param array<string, mixed> $row @param array<string, mixed> $old @return array<string, mixed>
     */
    private static function history(array $row, ?string $publishedAt, array $old): array
    {
        $isSameKind = $old !== [] && $old['category'] === $row['category']
            && ($old['rent_frequency_code'] ?? -1) == ($row['rent_frequency_code'] ?? -1);
        $old = $isSameKind ? $old : [];
        $last = $old['last_price'] ?? null;
        $hasChanged = $row['price'] !== null && $last !== null && (float) $last !== $row['price'];
        return [
            'first_price' => $old['first_price'] ?? $row['price'],
            'last_price' => $row['price'] ?? $last,
            'previous_price' => $hasChanged ? $last : $old['previous_price'] ?? null,
            'price_changed_at' => $hasChanged ? $publishedAt : $old['price_changed_at'] ?? null,
        ];
    }

    /** Without `principal`, which names a person and is for no page. As objects, since an array would make a list of {}. */
    private static function payload(string $text): string
    {
        // An object takes no name that begins with NUL.
        $payload = json_decode($text) ?? json_decode($text, true);
        if (is_object($payload)) {
            unset($payload->principal);
        } else {
            unset($payload['principal']);
        }
        return json_encode($payload, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    }

    /** @param array<string, mixed> $row */
    private function replace(string $table, array $row): void
    {
        $columns = implode(', ', array_keys($row));
        $marks = implode(', ', array_fill(0, count($row), '?'));
        $this->run("REPLACE INTO $this->prefix$table ($columns) VALUES ($marks)", array_values($row));
    }

    /** @param list<mixed> $values */
    private function run(string $statement, array $values = []): PDOStatement
    {
        // As JSON, since PDO would write a figure with the 14 digits of PHP's `precision`.
        $texts = array_map(static fn (mixed $value): mixed => is_float($value) ? json_encode($value) : $value, $values);
        $prepared = $this->prepared[$statement] ??= $this->db->prepare($statement);
        $prepared->execute($texts);
        return $prepared;
    }

    /** The first column. @param list<mixed> $values @return list<mixed> */
    private function column(string $statement, array $values = []): array
    {
        return $this->run($statement, $values)->fetchAll(PDO::FETCH_COLUMN);
    }

    /** A reference that can be a key of both databases. Those of a Property Events service are UUIDs. */
    private static function isUsable(string $reference): bool
    {
        return strlen($reference) <= 200 && self::clean($reference) === $reference && trim($reference) === $reference;
    }

    /** @param array{code: int|string, name: string|null}|null $named */
    private static function code(?array $named): ?int
    {
        return $named !== null && is_int($named['code']) && abs($named['code']) <= self::LARGEST_INTEGER ? $named['code'] : null;
    }

    /** @param array{code: int|string, name: string|null}|null $named */
    private static function name(?array $named): ?string
    {
        return self::clean($named['name'] ?? null);
    }

    private static function whole(?int $count): ?int
    {
        return $count !== null && $count >= 0 && $count <= self::LARGEST_INTEGER ? $count : null;
    }

    private static function amount(int|float|null $amount): ?float
    {
        return $amount === null || $amount < 0 ? null : (float) $amount;
    }

    /** Without control characters, and those that turn the direction of the text around them. */
    private static function clean(?string $text): ?string
    {
        return $text === null ? null : preg_replace('/[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x{9F}\x{202A}-\x{202E}\x{2066}-\x{2069}]/u', '', $text);
    }

    /** @param list<string> $texts */
    private static function json(array $texts): string
    {
        return json_encode(array_map(self::clean(...), $texts), JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    }

    /** A `createdDate` in UTC, to the millisecond; null for a text that is no date. */
    private static function moment(string $createdDate): ?string
    {
        if ($createdDate === '') {
            return null;
        }
        try {
            $time = new DateTimeImmutable((string) preg_replace('/(\.\d{3})\d+/', '$1', $createdDate), new DateTimeZone('UTC'));
        } catch (Exception) {
            return null;
        }
        $text = $time->setTimezone(new DateTimeZone('UTC'))->format('Y-m-d H:i:s.v');
        return preg_match('/^[1-9]\d{3}-/', $text) === 1 ? $text : null;
    }
}
