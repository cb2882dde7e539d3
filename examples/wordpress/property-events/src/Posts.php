<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** Makes posts of the copy: each listing in one transaction, with the note that it is done. */
final class Posts
{
    private const DRAFT_SECONDS = 30 * 86_400;
    private const CHUNK = 20;
    /** A listing in whose making the process ended this often is left out until it changes. */
    private const TRIES = 5;

    public function __construct(
        private readonly Settings $settings,
        private readonly Store $store,
        private readonly Photographs $photographs,
    ) {
    }

    /**
     * @param bool $withoutRemovals what has been removed keeps its post for now
     * @return bool true: nothing is left to do
     */
    public function work(Budget $budget, bool $withoutRemovals): bool
    {
        // Revisions would keep what the feed has taken back.
        remove_action('post_updated', 'wp_save_post_revision');
        $done = 0;
        while (($rows = $this->pending($withoutRemovals)) !== []) {
            $this->countTries($rows, 1);
            foreach ($rows as $index => $row) {
                if ($budget->isSpent()) {
                    $this->countTries(array_slice($rows, $index), -1);
                    return false;
                }
                $this->make($row);
                if (++$done % 50 === 0) {
                    Memory::forget();
                }
            }
        }
        return $withoutRemovals || $this->deleteOldDrafts($budget);
    }

    /** @return list<array<string, string>> */
    private function pending(bool $withoutRemovals): array
    {
        $which = $withoutRemovals ? 'pending = 1 AND removed_at = 0 AND stale = 0' : 'pending = 1';
        // What ended a process before comes last, so that it holds up nothing else.
        $sql = "SELECT * FROM {$this->listings()} WHERE $which ORDER BY tries, number LIMIT %d";
        $rows = $this->store->rows($sql, self::CHUNK);
        // After a process that ended, one at a time: only what ends it is to be counted.
        return $this->withPosts(($rows[0]['tries'] ?? '0') === '0' ? $rows : array_slice($rows, 0, 1));
    }

    /**
     * With the posts that the table does not know: of a table that was restored from a backup, say.
     *
     * @param list<array<string, string>> $rows
     * @return list<array<string, string>>
     */
    private function withPosts(array $rows): array
    {
        $refs = array_column(array_filter($rows, static fn (array $row): bool => $row['post_id'] === '0'), 'ref');
        if ($refs === []) {
            return $rows;
        }
        $found = $this->store->rows(
            "SELECT meta_value AS ref, max(post_id) AS post_id FROM {$GLOBALS['wpdb']->postmeta}
            WHERE meta_key = %s AND meta_value IN (" . Store::places($refs) . ') GROUP BY meta_value',
            PostContent::META . 'ref',
            ...$refs,
        );
        $posts = array_column($found, 'post_id', 'ref');
        return array_map(static fn (array $row): array => ['post_id' => $row['post_id'] === '0' ? $posts[$row['ref']] ?? '0' : $row['post_id']] + $row, $rows);
    }

    /** @param list<array<string, string>> $rows */
    private function countTries(array $rows, int $step): void
    {
        $refs = array_column($rows, 'ref');
        $tries = 'GREATEST(0, LEAST(100, CAST(tries AS SIGNED) + %d))';
        $this->store->run("UPDATE {$this->listings()} SET tries = $tries WHERE ref IN (" . Store::places($refs) . ')', $step, ...$refs);
    }

    /** @param array<string, string> $row */
    private function make(array $row): void
    {
        try {
            if ((int) $row['tries'] >= self::TRIES) {
                throw new RefusedListing(__('The site stopped each time this listing was made. See its error log.', 'property-events'));
            }
            $this->store->inTransaction(fn () => $row['removed_at'] === '0' ? $this->show($row) : $this->withdraw($row));
        } catch (RunIsOver $problem) {
            throw $problem;
        } catch (\Throwable $problem) {
            if ($problem instanceof StoreException && !$problem->isOfContent) {
                throw $problem;
            }
            // A rule of the site, or another plugin that takes part when a post is saved. The next listing may do better.
            $this->store->inTransaction(fn () => $this->refuse($row, $problem->getMessage()));
        }
    }

    /** @param array<string, string> $row */
    private function show(array $row): void
    {
        if ($row['payload'] === '') {
            throw new RefusedListing($row['verdict_reason']);
        }
        $payload = json_decode($row['payload'], true, flags: JSON_THROW_ON_ERROR);
        $listing = \PropertyListing::of($payload);
        /**
         * Lets a site leave a listing out, with its reason: `add_filter('property_events_refuse', fn ($reason, $listing) =>
         * $listing['photographs'] === [] ? 'It has no photographs.' : $reason, 10, 2)`.
         */
        $refusal = apply_filters('property_events_refuse', null, $listing, $payload);
        if (is_string($refusal) && $refusal !== '') {
            throw new RefusedListing($refusal);
        }
        $postId = $this->save($row, $listing);
        $this->photographs->link($row['ref'], $postId, $listing);
        $slug = (string) get_post_field('post_name', $postId, 'raw');
        $this->store->run(
            "UPDATE {$this->listings()} SET pending = 0, tries = 0, shown = 1, post_id = %d, slug = %s WHERE ref = %s",
            $postId,
            $slug,
            $row['ref'],
        );
        (new Verdicts($this->store))->note($row, Verdicts::SHOWN, address: (string) get_permalink($postId));
    }

    /** @param array<string, string> $row @param array<string, mixed> $listing */
    private function save(array $row, array $listing): int
    {
        $existing = $this->postOf($row);
        $content = PostContent::of($listing);
        // As WordPress does with titles and texts where its tables have no emoji.
        if ($GLOBALS['wpdb']->get_col_charset($GLOBALS['wpdb']->postmeta, 'meta_value') === 'utf8') {
            $content['meta_input'] = map_deep($content['meta_input'], wp_encode_emoji(...));
        }
        $post = $content + [
            'post_type' => $this->settings->postType,
            'post_status' => 'publish',
            'comment_status' => 'closed',
            'ping_status' => 'closed',
        ];
        if ($existing === null) {
            // An address once given stays the listing's, even if its post was deleted in between.
            $post['post_name'] = $row['slug'] === '' ? $this->newSlug($row['ref'], $listing) : $row['slug'];
            $date = PostContent::dateOf($listing['addedOn'], current_time('Y-m-d'));
            $post += $date === null ? [] : ['post_date' => $date];
        } else {
            $post += ['ID' => $existing->ID, 'post_name' => $row['slug'] === '' ? $existing->post_name : $row['slug']];
        }
        $postId = $existing === null ? wp_insert_post(wp_slash($post), true) : wp_update_post(wp_slash($post), true);
        if (is_wp_error($postId)) {
            throw new RefusedListing(self::reasonOf($postId));
        }
        // WordPress says nothing of a field that the database refused.
        foreach ($content['meta_input'] as $name => $value) {
            if (get_post_meta($postId, $name, true) !== $value) {
                throw new RefusedListing("The database did not keep the field $name.");
            }
        }
        return $postId;
    }

    private static function reasonOf(\WP_Error $problem): string
    {
        // The database's own words, where it was the database.
        $detail = $problem->get_error_data();
        return $problem->get_error_message() . (is_string($detail) && $detail !== '' ? " $detail" : '');
    }

    /** The words of the address, with a part of the reference where another post has them: WordPress would count up to a free number. */
    private function newSlug(string $ref, array $listing): string
    {
        $words = sanitize_title(PostContent::slugWords($listing));
        $sql = "SELECT count(*) FROM {$GLOBALS['wpdb']->posts} WHERE post_name = %s";
        return $this->store->number($sql, $words) === 0 ? $words : "$words-" . substr(sanitize_title($ref), 0, 8);
    }

    /** @param array<string, string> $row */
    private function postOf(array $row): ?\WP_Post
    {
        $post = $row['post_id'] === '0' ? null : get_post((int) $row['post_id']);
        return $post instanceof \WP_Post ? $post : null;
    }

    /** A draft first; what was erased goes at once, pictures included. @param array<string, string> $row */
    private function withdraw(array $row): void
    {
        $post = $this->postOf($row);
        if ($post !== null && $row['erased'] === '1') {
            $this->delete($row['ref'], $post->ID);
        } elseif ($post !== null) {
            $this->toDraft($post);
        }
        $keepsPost = $post !== null && $row['erased'] === '0';
        $this->store->run(
            "UPDATE {$this->listings()} SET pending = 0, tries = 0, shown = 0, post_id = %d WHERE ref = %s",
            $keepsPost ? $post->ID : 0,
            $row['ref'],
        );
        (new Verdicts($this->store))->note($row, Verdicts::REMOVED);
        // What was never to be seen leaves nothing.
        $this->store->run("DELETE FROM {$this->listings()} WHERE ref = %s AND post_id = 0 AND slug = ''", $row['ref']);
    }

    private function toDraft(\WP_Post $post): void
    {
        // With its name, so that its address is free for nobody else.
        $changed = wp_update_post(['ID' => $post->ID, 'post_status' => 'draft', 'post_name' => $post->post_name], true);
        if (is_wp_error($changed)) {
            throw new RefusedListing(self::reasonOf($changed));
        }
    }

    /** @param array<string, string> $row */
    private function refuse(array $row, string $reason): void
    {
        $post = $this->postOf($row);
        if ($post !== null && $post->post_status === 'publish') {
            // Past the hooks of others, one of which may be what failed.
            $GLOBALS['wpdb']->update($GLOBALS['wpdb']->posts, ['post_status' => 'draft'], ['ID' => $post->ID]);
            clean_post_cache($post->ID);
        }
        $this->store->run("UPDATE {$this->listings()} SET pending = 0, shown = 0 WHERE ref = %s", $row['ref']);
        (new Verdicts($this->store))->note($row, Verdicts::REFUSED, $reason);
    }

    private function deleteOldDrafts(Budget $budget): bool
    {
        $due = "removed_at > 0 AND removed_at < %d AND post_id > 0 AND pending = 0";
        $sql = "SELECT ref, post_id FROM {$this->listings()} WHERE $due ORDER BY removed_at LIMIT 20";
        while (($rows = $this->store->rows($sql, time() - self::DRAFT_SECONDS)) !== []) {
            foreach ($rows as $row) {
                if ($budget->isSpent()) {
                    return false;
                }
                $this->store->inTransaction(function () use ($row): void {
                    $this->delete($row['ref'], (int) $row['post_id']);
                    $this->store->run("UPDATE {$this->listings()} SET post_id = 0 WHERE ref = %s", $row['ref']);
                });
            }
        }
        return true;
    }

    private function delete(string $ref, int $postId): void
    {
        $this->photographs->unlink($ref);
        wp_delete_post($postId, true);
    }

    private function listings(): string
    {
        return $this->store->table('listings');
    }
}
