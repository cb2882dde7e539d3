<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** The plugin's four tables. A newer plugin brings them up to date, one step after another; no step is ever edited. */
final class Schema
{
    private const OPTION = 'property_events_tables';

    public static function bringUpToDate(): void
    {
        $steps = self::steps();
        $version = (int) get_option(self::OPTION, 0);
        if ($version >= count($steps)) {
            return;
        }
        $store = Store::open();
        // Two requests may find the tables missing at the same time.
        foreach (array_slice($steps, $version) as $statements) {
            foreach ($statements as $statement) {
                $store->run($statement);
            }
        }
        update_option(self::OPTION, count($steps), true);
    }

    public static function drop(): void
    {
        $store = Store::open();
        foreach (['links', 'images', 'listings', 'state'] as $table) {
            $store->run('DROP TABLE IF EXISTS ' . $store->table($table));
        }
        delete_option(self::OPTION);
    }

    /**
     * Times are seconds since 1970 in UTC; 0 and '' stand for none. Every column has one character set: of a table with two, WordPress
     * says that it takes ASCII alone, and refuses each statement with another character.
     *
     * @return list<list<string>>
     */
    private static function steps(): array
    {
        $store = Store::open();
        [$state, $listings, $images, $links] = array_map($store->table(...), ['state', 'listings', 'images', 'links']);
        $rest = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4';
        $exact = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
        $reference = "varchar(64) $exact NOT NULL";
        return [[
            // One row: how far the copy is, and how the last run ended. `whole_since`: the whole feed is being read since then.
            "CREATE TABLE IF NOT EXISTS $state (
                id tinyint unsigned NOT NULL PRIMARY KEY,
                checkpoint longtext NOT NULL,
                whole_since bigint unsigned NOT NULL DEFAULT 0,
                allows_mass_removal tinyint unsigned NOT NULL DEFAULT 0,
                writes bigint unsigned NOT NULL DEFAULT 0,
                caught_up_at bigint unsigned NOT NULL DEFAULT 0,
                ran_at bigint unsigned NOT NULL DEFAULT 0,
                outcome varchar(20) NOT NULL DEFAULT '',
                message text NOT NULL
            ) $rest",
            "INSERT IGNORE INTO $state (id, checkpoint, message) VALUES (1, '', '')",
            // One row for each listing that the feed has, or had. `pending`: its post is not yet as the payload says.
            "CREATE TABLE IF NOT EXISTS $listings (
                ref $reference PRIMARY KEY,
                number bigint unsigned NOT NULL,
                payload longtext $exact NOT NULL,
                stale tinyint unsigned NOT NULL DEFAULT 0,
                pending tinyint unsigned NOT NULL DEFAULT 0,
                tries tinyint unsigned NOT NULL DEFAULT 0,
                removed_at bigint unsigned NOT NULL DEFAULT 0,
                erased tinyint unsigned NOT NULL DEFAULT 0,
                post_id bigint unsigned NOT NULL DEFAULT 0,
                shown tinyint unsigned NOT NULL DEFAULT 0,
                slug varchar(200) NOT NULL DEFAULT '',
                verdict varchar(20) NOT NULL DEFAULT '',
                verdict_number bigint unsigned NOT NULL DEFAULT 0,
                verdict_reason varchar(500) NOT NULL DEFAULT '',
                verdict_address varchar(500) NOT NULL DEFAULT '',
                verdict_at bigint unsigned NOT NULL DEFAULT 0,
                told_at bigint unsigned NOT NULL DEFAULT 0,
                KEY pending (pending, tries, number),
                KEY removed_at (removed_at),
                KEY shown (shown),
                KEY post_id (post_id),
                KEY slug (slug(100)),
                KEY told_at (told_at)
            ) $rest",
            // One row for each picture, whichever listings have it. `state`: wanted, kept, refused or unused.
            "CREATE TABLE IF NOT EXISTS $images (
                id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
                hash char(64) $exact NOT NULL,
                url text NOT NULL,
                state varchar(10) NOT NULL DEFAULT 'wanted',
                place smallint unsigned NOT NULL DEFAULT 0,
                tries tinyint unsigned NOT NULL DEFAULT 0,
                next_try_at bigint unsigned NOT NULL DEFAULT 0,
                attachment_id bigint unsigned NOT NULL DEFAULT 0,
                reason varchar(500) NOT NULL DEFAULT '',
                UNIQUE KEY hash (hash),
                KEY state (state, place, id),
                KEY attachment_id (attachment_id)
            ) $rest",
            // Which listing shows which picture, in which place.
            "CREATE TABLE IF NOT EXISTS $links (
                ref $reference,
                kind varchar(20) $exact NOT NULL,
                place smallint unsigned NOT NULL,
                image_id bigint unsigned NOT NULL,
                caption varchar(500) NOT NULL DEFAULT '',
                PRIMARY KEY (ref, kind, place),
                KEY image_id (image_id)
            ) $rest",
        ]];
    }
}
