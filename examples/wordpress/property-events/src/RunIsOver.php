<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** The run has used its time or memory, and the next one goes on. */
final class RunIsOver extends \RuntimeException
{
}
