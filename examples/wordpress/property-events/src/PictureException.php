<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** There is no picture to keep. The message says why. */
final class PictureException extends \RuntimeException
{
    /** @param bool $isFinal asking again would not help */
    public function __construct(string $message, public readonly bool $isFinal = false)
    {
        parent::__construct($message);
    }
}
