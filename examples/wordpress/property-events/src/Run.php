<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** One run: the copy, then posts, then pictures, as far as the budget goes. Runs follow each other and never overlap. */
final class Run
{
    /** How a run ended: caught up, with work left for the next one, held by the breaker, failed, or not begun. */
    public const CAUGHT_UP = 'caught_up';
    public const MORE = 'more';
    public const HELD = 'held';
    public const FAILED = 'failed';
    public const BUSY = 'busy';
    public const NOT_SET_UP = 'not_set_up';

    private function __construct(private readonly Settings $settings, private readonly Store $store)
    {
    }

    /** @return array{string, string} how it ended, and a sentence for the administrator ('' when there is nothing to say) */
    public static function once(?Budget $budget = null, bool $allowMassRemoval = false): array
    {
        $settings = Settings::load();
        if (!$settings->areComplete()) {
            return [self::NOT_SET_UP, __('Give the address and the key on the settings page first.', 'property-events')];
        }
        $store = Store::open();
        if (!$store->lock()) {
            return [self::BUSY, __('Another run is under way.', 'property-events')];
        }
        try {
            [$outcome, $message] = (new self($settings, $store))->work($budget ?? Budget::ofOneRun(), $allowMassRemoval);
            $store->setState(['ran_at' => time(), 'outcome' => $outcome, 'message' => $message]);
            return [$outcome, $message];
        } catch (\Throwable $problem) {
            return self::failed($store, $problem);
        } finally {
            $store->unlock();
        }
    }

    /** @return array{string, string} */
    private static function failed(Store $store, \Throwable $problem): array
    {
        $isKnown = $problem instanceof StoreException;
        $message = ($isKnown ? '' : __('The run stopped because of a fault: ', 'property-events')) . $problem->getMessage();
        if (!$isKnown) {
            error_log("Property Events: $problem");
        }
        try {
            $store->setState(['ran_at' => time(), 'outcome' => self::FAILED, 'message' => $message]);
        } catch (StoreException) {
            // The database is away; the command line and the button say so all the same.
        }
        return [self::FAILED, $message];
    }

    /** @return array{string, string} */
    private function work(Budget $budget, bool $allowMassRemoval): array
    {
        if (!post_type_exists($this->settings->postType)) {
            return [self::FAILED, "There is no kind of posts \"{$this->settings->postType}\" any more. Choose another on the settings page."];
        }
        $copy = new Copy($this->store);
        $allow = $allowMassRemoval || $this->store->state()['allows_mass_removal'] === '1';
        [$outcome, $message] = $this->readFeed($copy, $budget, $allow);
        if ($outcome === self::CAUGHT_UP && $allow) {
            $this->store->setState(['allows_mass_removal' => 0]);
        }
        $isReadAnew = $copy->isReadAnew();
        // While the whole feed is read its listings pass through states of long ago, which no visitor should see.
        if ($isReadAnew && $outcome !== self::HELD) {
            return [$outcome, $message];
        }
        $pictures = new Photographs($this->store);
        $posts = new Posts($this->settings, $this->store, $pictures);
        $isDone = $posts->work($budget, $isReadAnew);
        if ($outcome === self::CAUGHT_UP && $isDone) {
            // Pictures may take hours, and the texts are right meanwhile.
            $this->store->setState(['caught_up_at' => time()]);
        }
        $isDone = $isDone && $pictures->work($budget);
        (new Verdicts($this->store))->deliver();
        return $outcome === self::CAUGHT_UP && !$isDone ? [self::MORE, $message] : [$outcome, $message];
    }

    /** @return array{string, string} */
    private function readFeed(Copy $copy, Budget $budget, bool $allow): array
    {
        $reader = new FeedReader($this->settings, $copy, $this->store);
        try {
            $isDone = $reader->read($budget, $allow);
            return [$isDone ? self::CAUGHT_UP : self::MORE, $reader->readAgain()];
        } catch (\MassRemovalException $stopped) {
            return [self::HELD, ltrim("{$reader->readAgain()} $stopped->summary") . ' To allow it once, let the next run remove them. '
                . __('If it is a mistake, have the listings published again: the runs continue by themselves.', 'property-events')];
        } catch (\PropertyFeedException $problem) {
            $remedy = $problem->problem === 'checkpoint' ? ' If the address or the key is of another agency now, start over.' : '';
            return [self::FAILED, $problem->getMessage() . $remedy];
        }
    }
}
