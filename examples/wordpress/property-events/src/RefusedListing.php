<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** A listing that cannot be shown here. The message says why. */
final class RefusedListing extends \RuntimeException
{
}
