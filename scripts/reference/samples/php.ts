/** Requests in PHP without an extension, and with `PropertyFeed.php` where it keeps the copy that a reader wants. */
import { isStream } from './request.ts'
import type { SampleRequest } from './request.ts'

export function phpSample(request: SampleRequest): string {
  const { operationId, method, target, needsKey, body } = request
  if (operationId === 'readPropertySnapshot' || operationId === 'readPropertyEvents') return copy
  const headers = [
    ...(needsKey ? [`'x-api-key: ' . getenv('PROPERTY_EVENTS_KEY')`] : []),
    ...(body === undefined ? [] : [`'content-type: application/json'`]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`'method' => '${method}'`]),
    ...(headers.length === 0 ? [] : [`'header' => [${headers.join(', ')}]`]),
    ...(body === undefined ? [] : [`'content' => json_encode(${literal(body, 1)})`]),
    // The body of a refusal says what to do.
    `'ignore_errors' => true`,
  ]
  return `<?php
$context = stream_context_create(['http' => [
    ${options.join(',\n    ')},
]]);
${isStream(operationId) ? stream(target) : operationId.endsWith('Snapshot') ? lines(target) : method === 'PUT' ? done(target) : whole(target)}`
}

function whole(target: string): string {
  const read = `$answer = file_get_contents(getenv('PROPERTY_EVENTS_URL') . '${target}', false, $context);\n`
  return `${read}${target === '/docs' ? 'echo $answer;' : 'print_r(json_decode($answer, true, 512, JSON_THROW_ON_ERROR));'}`
}

/** An answer without a body. */
function done(target: string): string {
  return `file_get_contents(getenv('PROPERTY_EVENTS_URL') . '${target}', false, $context);
echo $http_response_header[0];`
}

/** Prints what comes, as long as the stream lasts. */
function stream(target: string): string {
  return `$stream = fopen(getenv('PROPERTY_EVENTS_URL') . '${target}', 'r', false, $context);
while (($line = fgets($stream)) !== false) {
    echo $line;
}`
}

function lines(target: string): string {
  return `$stream = fopen(getenv('PROPERTY_EVENTS_URL') . '${target}', 'r', false, $context);
while (($line = fgets($stream)) !== false) {
    print_r(json_decode($line, true, 512, JSON_THROW_ON_ERROR));
}`
}

const copy = `<?php
require 'PropertyFeed.php';

// Reads the snapshot and the events after it; with the checkpoint that was kept, only what is new.
$feed = new PropertyFeed(getenv('PROPERTY_EVENTS_URL'), getenv('PROPERTY_EVENTS_KEY'));
$copy = [];
$checkpoint = null;
$feed->sync(
    fn (): ?string => $checkpoint,
    function (array $changes, string $reached) use (&$copy, &$checkpoint): void {
        foreach ($changes as $change) {
            if ($change['kind'] === 'remove') {
                unset($copy[$change['ref']]);
            } else {
                $copy[$change['ref']] = $change['payload'];
            }
        }
        $checkpoint = $reached;
    },
);
echo count($copy), " properties\\n";`

/** A value as PHP writes it. */
function literal(value: unknown, depth: number): string {
  if (Array.isArray(value))
    return wrapped(
      value.map((item) => literal(item, depth + 1)),
      depth,
    )
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `'${name}' => ${literal(member, depth + 1)}`,
    )
    return wrapped(members, depth)
  }
  if (typeof value === 'string') return `'${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`
  return JSON.stringify(value)
}

function wrapped(members: readonly string[], depth: number): string {
  const inner = '    '.repeat(depth + 1)
  return `[\n${members.map((member) => `${inner}${member},\n`).join('')}${'    '.repeat(depth)}]`
}
