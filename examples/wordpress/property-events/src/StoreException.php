<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** The database did not do what was asked. The message is a sentence for the site's administrator. */
final class StoreException extends \RuntimeException
{
    /** @param bool $isOfContent the statement would be refused each time, for what stands in it, and others would be taken */
    public function __construct(string $message, public readonly bool $isOfContent = false)
    {
        parent::__construct($message);
    }
}
