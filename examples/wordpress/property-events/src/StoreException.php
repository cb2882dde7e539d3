<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** The database did not do what was asked. The message is a sentence for the site's administrator. */
final class StoreException extends \RuntimeException
{
}
