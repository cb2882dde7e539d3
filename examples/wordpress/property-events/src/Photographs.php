<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/**
 * Photographs and floor plans: a queue of addresses, each of which is downloaded once into the media library, whichever and
 * however many listings have it. What no listing has any more is deleted; a picture that was replaced at its address, once the
 * new one is here.
 */
final class Photographs
{
    private const PER_LISTING = 60;
    /** Listings that get a main photograph in the step that downloads it. */
    private const AT_ONCE = 20;
    /** Seconds before the second, third … attempt; after these a picture is given up. */
    private const WAITS = [300, 3_600, 6 * 3_600, 86_400];
    private const KINDS = ['photograph' => 'photographs', 'floor_plan' => 'floorPlans'];
    /** Begins the kind of a link to a picture that is shown until the one that replaces it, in the same place, is here. */
    private const OLD = 'old_';

    private static bool $isOurDeletion = false;

    public function __construct(private readonly Store $store)
    {
    }

    public static function register(): void
    {
        // What an editor deletes from the media library is not downloaded again.
        add_action('delete_attachment', static function (int $attachmentId): void {
            if (!self::$isOurDeletion) {
                $store = Store::open();
                $store->run(
                    'UPDATE ' . $store->table('images') . " SET state = 'refused', attachment_id = 0, reason = %s WHERE attachment_id = %d",
                    __('Deleted from the media library.', 'property-events'),
                    $attachmentId,
                );
            }
        });
    }

    /** Notes which pictures the listing has, in its order. @param array<string, mixed> $listing */
    public function link(string $ref, int $postId, array $listing): void
    {
        $before = $this->store->rows(
            "SELECT image.id, image.url, image.state FROM {$this->links()} link JOIN {$this->images()} image ON image.id = link.image_id
            WHERE link.ref = %s",
            $ref,
        );
        $here = array_column(array_filter($before, static fn (array $image): bool => $image['state'] === 'kept'), 'id', 'url');
        $this->store->run("DELETE FROM {$this->links()} WHERE ref = %s", $ref);
        $after = [];
        foreach (self::KINDS as $kind => $member) {
            $pictures = array_slice(array_values(array_column($listing[$member], null, 'url')), 0, self::PER_LISTING);
            foreach ($this->imagesOf($pictures, $kind) as $place => ['id' => $id, 'state' => $state]) {
                ['url' => $url, 'caption' => $caption] = $pictures[$place];
                $shown = [$kind => $id] + ($state !== 'kept' && isset($here[$url]) ? [self::OLD . $kind => $here[$url]] : []);
                foreach ($shown as $as => $imageId) {
                    $this->store->run("INSERT INTO {$this->links()} VALUES (%s, %s, %d, %d, %s)", $ref, $as, $place, (int) $imageId, mb_substr($caption, 0, 500));
                    $after[] = $imageId;
                }
            }
        }
        $this->dropUnused(array_diff(array_column($before, 'id'), $after));
        $this->showMain($ref, $postId);
    }

    /** The listing has no pictures any more. */
    public function unlink(string $ref): void
    {
        $ids = $this->store->column("SELECT image_id FROM {$this->links()} WHERE ref = %s", $ref);
        $this->store->run("DELETE FROM {$this->links()} WHERE ref = %s", $ref);
        $this->dropUnused($ids);
    }

    /** @return bool true: nothing can be done now */
    public function work(Budget $budget): bool
    {
        while (!$budget->isSpent()) {
            $image = $this->store->row("SELECT * FROM {$this->images()} WHERE state = 'unused' ORDER BY id LIMIT 1")
                ?? $this->store->row(
                    // Main photographs of all listings come first.
                    "SELECT * FROM {$this->images()} WHERE state = 'wanted' AND next_try_at <= %d ORDER BY place, id LIMIT 1",
                    time(),
                );
            if ($image === null) {
                return $this->store->row("SELECT ref FROM {$this->store->table('listings')} WHERE pending = 1 LIMIT 1") === null;
            }
            $image['state'] === 'unused' ? $this->delete($image) : $this->download($image, $budget);
            Memory::forget();
        }
        return false;
    }

    /** Tries again what was given up. @return int pictures */
    public function retry(): int
    {
        return $this->store->run("UPDATE {$this->images()} SET state = 'wanted', tries = 0, next_try_at = 0, reason = '' WHERE state = 'refused'");
    }

    /** Why pictures are not here, the most frequent reason first. @return list<array{reason: string, pictures: string, example: string}> */
    public function refusals(): array
    {
        return $this->store->rows(
            "SELECT reason, count(*) AS pictures, max(url) AS example FROM {$this->images()}
            WHERE state = 'refused' OR (state = 'wanted' AND reason <> '') GROUP BY reason ORDER BY pictures DESC, reason LIMIT 20",
        );
    }

    /**
     * @return list<array{attachmentId: int, caption: string}> those that are here, in their order
     */
    public static function of(int $postId, string $kind): array
    {
        $store = Store::open();
        $rows = $store->rows(
            "SELECT image.attachment_id, link.caption FROM {$store->table('listings')} listing
            JOIN {$store->table('links')} link ON link.ref = listing.ref
            JOIN {$store->table('images')} image ON image.id = link.image_id
            WHERE listing.post_id = %d AND link.kind IN (%s, %s) AND image.state = 'kept' ORDER BY link.place",
            $postId,
            $kind,
            self::OLD . $kind,
        );
        return array_map(static fn (array $row): array => ['attachmentId' => (int) $row['attachment_id'], 'caption' => $row['caption']], $rows);
    }

    /**
     * The pictures' rows, in their order; what is new joins the queue.
     *
     * @param list<array<string, mixed>> $pictures
     * @return list<array{id: string, state: string}>
     */
    private function imagesOf(array $pictures, string $kind): array
    {
        if ($pictures === []) {
            return [];
        }
        $hashes = array_map(self::hashOf(...), $pictures);
        $wanted = [];
        foreach ($pictures as $place => $picture) {
            // Floor plans come after all photographs.
            array_push($wanted, $hashes[$place], $picture['url'], $kind === 'photograph' ? $place : 1000 + $place);
        }
        $rows = Store::places($pictures, '(%s, %s, %d)');
        $this->store->run(
            "INSERT INTO {$this->images()} (hash, url, place) VALUES $rows
            ON DUPLICATE KEY UPDATE place = LEAST(place, VALUES(place)),
                state = IF(state = 'unused', IF(attachment_id > 0, 'kept', 'wanted'), state)",
            ...$wanted,
        );
        $found = $this->store->rows("SELECT id, hash, state FROM {$this->images()} WHERE hash IN (" . Store::places($hashes) . ')', ...$hashes);
        $byHash = array_column($found, null, 'hash');
        return array_map(static fn (string $hash): array => $byHash[$hash], $hashes);
    }

    /**
     * What is one picture: an address with its date, since a file may be replaced at its address. @param array<string, mixed> $picture
     */
    private static function hashOf(array $picture): string
    {
        return hash('sha256', $picture['updatedOn'] === null ? $picture['url'] : "{$picture['url']} {$picture['updatedOn']}");
    }

    /** @param array<string> $ids */
    private function dropUnused(array $ids): void
    {
        if ($ids !== []) {
            $this->store->run(
                "UPDATE {$this->images()} SET state = 'unused' WHERE id IN (" . Store::places($ids, '%d') . ")
                AND NOT EXISTS (SELECT 1 FROM {$this->links()} link WHERE link.image_id = {$this->images()}.id)",
                ...array_map(intval(...), array_values($ids)),
            );
        }
    }

    /** The first photograph that is here stands for the listing wherever the theme shows one. */
    private function showMain(string $ref, int $postId): void
    {
        $attachmentId = $this->store->number(
            "SELECT image.attachment_id FROM {$this->links()} link JOIN {$this->images()} image ON image.id = link.image_id
            WHERE link.ref = %s AND link.kind IN ('photograph', %s) AND image.state = 'kept' ORDER BY link.place LIMIT 1",
            $ref,
            self::OLD . 'photograph',
        );
        $shown = (int) get_post_thumbnail_id($postId);
        if ($attachmentId > 0 && $attachmentId !== $shown) {
            set_post_thumbnail($postId, $attachmentId);
        } elseif ($attachmentId === 0 && $shown > 0) {
            delete_post_thumbnail($postId);
        }
    }

    /**
     * Shows the main photographs of the listings that have this picture, where none before it is still to come. One picture may
     * stand in all listings, such as one for those without: these are made again, as far as each run goes.
     */
    private function showWhereMain(int $imageId): void
    {
        $rows = $this->store->rows(
            "SELECT listing.ref, listing.post_id FROM {$this->links()} link
            JOIN {$this->store->table('listings')} listing ON listing.ref = link.ref
            WHERE link.image_id = %d AND link.kind = 'photograph' AND listing.post_id > 0 AND NOT EXISTS (
                SELECT 1 FROM {$this->links()} earlier JOIN {$this->images()} image ON image.id = earlier.image_id
                WHERE earlier.ref = link.ref AND earlier.kind = 'photograph' AND earlier.place < link.place
                    AND image.state IN ('wanted', 'kept'))",
            $imageId,
        );
        foreach (array_slice($rows, 0, self::AT_ONCE) as $row) {
            $this->showMain($row['ref'], (int) $row['post_id']);
        }
        foreach (array_chunk(array_column(array_slice($rows, self::AT_ONCE), 'ref'), 500) as $refs) {
            $places = Store::places($refs);
            $this->store->run("UPDATE {$this->store->table('listings')} SET pending = 1 WHERE removed_at = 0 AND ref IN ($places)", ...$refs);
        }
    }

    /** @param array<string, string> $image */
    private function download(array $image, Budget $budget): void
    {
        $tries = (int) $image['tries'];
        $isLast = $tries >= count(self::WAITS);
        // Noted before: a picture that ends the process is not begun for ever.
        $this->store->run(
            "UPDATE {$this->images()} SET tries = tries + 1, next_try_at = %d WHERE id = %d",
            time() + (self::WAITS[$tries] ?? 0),
            (int) $image['id'],
        );
        try {
            $file = PictureFile::ofAddress($image['url'], $image['hash'], $budget);
            $this->keep($image, $file);
        } catch (PictureException | StoreException $problem) {
            if ($problem instanceof StoreException && !$problem->isOfContent) {
                throw $problem;
            }
            $isLast = $isLast || $problem instanceof StoreException || $problem->isFinal;
            $this->store->run(
                "UPDATE {$this->images()} SET state = %s, reason = %s WHERE id = %d",
                $isLast ? 'refused' : 'wanted',
                mb_substr(wp_check_invalid_utf8($problem->getMessage(), true), 0, 500),
                (int) $image['id'],
            );
            if ($isLast) {
                $this->showWhereMain((int) $image['id']);
            }
        }
    }

    /** @param array<string, string> $image */
    private function keep(array $image, PictureFile $file): void
    {
        $listings = $this->store->rows(
            "SELECT listing.ref, listing.post_id, link.caption FROM {$this->links()} link
            JOIN {$this->store->table('listings')} listing ON listing.ref = link.ref
            WHERE link.image_id = %d AND listing.post_id > 0 ORDER BY link.place, link.ref LIMIT 1",
            (int) $image['id'],
        );
        $postId = (int) ($listings[0]['post_id'] ?? 0);
        $address = (string) get_post_meta($postId, PostContent::META . 'address', true);
        $text = ($listings[0]['caption'] ?? '') !== '' ? $listings[0]['caption'] : $address;
        // Smaller copies take memory: not of large pictures, and not where the first attempt did not come back.
        $metadata = $file->metadata(withSmallerCopies: $image['tries'] === '0');
        $this->store->inTransaction(function () use ($image, $file, $postId, $text, $metadata): void {
            $attachmentId = wp_insert_attachment(wp_slash([
                'post_title' => htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8'),
                'post_mime_type' => $file->mimeType,
                'post_status' => 'inherit',
                'meta_input' => ['_wp_attachment_image_alt' => $text],
            ]), $file->path, $postId, true);
            if (is_wp_error($attachmentId)) {
                throw new PictureException($attachmentId->get_error_message());
            }
            wp_update_attachment_metadata($attachmentId, $metadata);
            $this->store->run(
                "UPDATE {$this->images()} SET state = 'kept', attachment_id = %d, reason = '' WHERE id = %d",
                $attachmentId,
                (int) $image['id'],
            );
            $this->dropReplacedBy((int) $image['id']);
            $this->showWhereMain((int) $image['id']);
        });
    }

    private function dropReplacedBy(int $imageId): void
    {
        $replaced = "FROM {$this->links()} old JOIN {$this->links()} link ON link.ref = old.ref AND link.place = old.place
            AND old.kind = CONCAT(%s, link.kind) WHERE link.image_id = %d";
        $ids = $this->store->column("SELECT DISTINCT old.image_id $replaced", self::OLD, $imageId);
        $this->store->run("DELETE old $replaced", self::OLD, $imageId);
        $this->dropUnused($ids);
    }

    /** @param array<string, string> $image */
    private function delete(array $image): void
    {
        $this->store->inTransaction(function () use ($image): void {
            self::$isOurDeletion = true;
            try {
                wp_delete_attachment((int) $image['attachment_id'], true);
            } finally {
                self::$isOurDeletion = false;
            }
            $this->store->run("DELETE FROM {$this->images()} WHERE id = %d", (int) $image['id']);
        });
        PictureFile::discard($image['hash']);
    }

    private function images(): string
    {
        return $this->store->table('images');
    }

    private function links(): string
    {
        return $this->store->table('links');
    }
}
