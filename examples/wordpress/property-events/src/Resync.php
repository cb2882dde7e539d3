<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** Has the next run read the whole feed anew, and every post made again if that is wanted. */
final class Resync
{
    /** @return bool false: a run is under way, and nothing was done */
    public static function begin(bool $makesPostsAgain): bool
    {
        $store = Store::open();
        if (!$store->lock()) {
            return false;
        }
        try {
            $store->inTransaction(static function () use ($store, $makesPostsAgain): void {
                $kept = json_decode($store->state()['checkpoint'], true);
                // What went within the last day goes on counting; whose feed it was does not.
                $removals = is_array($kept) && is_array($kept['removals'] ?? null) ? $kept['removals'] : [];
                $begin = ['format' => 'property-feed-php/1', 'type' => 'property', 'mode' => 'start', 'opens' => true, 'whole' => true,
                    'tenant' => null, 'removals' => $removals, 'begun' => false];
                $store->setState(['checkpoint' => (string) json_encode($begin)]);
                if ($makesPostsAgain) {
                    $store->run("UPDATE {$store->table('listings')} SET pending = 1, tries = 0 WHERE removed_at = 0");
                }
            });
        } finally {
            $store->unlock();
        }
        Schedule::runSoon();
        return true;
    }
}
