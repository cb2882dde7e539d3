/** An event as text: its payload for people to read, and a request for it that somebody else can send. */
import type { FeedEvent } from '@property-events/protocol/wire'
import type { FeedName } from '../../base.ts'

const longest = 20_000
/** For one line: a value of a megabyte would take the browser seconds. */
const longestLine = 2_000

interface RawText {
  readonly text: string
  /** The text continues beyond this. */
  readonly isCut: boolean
}

/** Indented if it is JSON. Control characters, and those that change the direction of the text, appear as their codes. */
export function rawText(payload: string, isWhole: boolean): RawText {
  const shown = indented(payload)
    .split('\n')
    .map((line) => (line.length > longestLine && !isWhole ? `${line.slice(0, longestLine)} …` : line))
    .join('\n')
  const cut = isWhole ? shown : shown.slice(0, longest)
  const isCut = !isWhole && (shown.length > longest || payload.length > longest || / …$/m.test(cut))
  return { text: cut.replaceAll(unseen, escaped), isCut }
}

// oxlint-disable-next-line no-control-regex -- these are what is meant
const unseen = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`
}

/**
 * Breaks lines between the parts of a JSON text and changes nothing within them. Numbers stay as they were written (D22), which a parser
 * would not preserve.
 */
function indented(json: string): string {
  const pieces: string[] = []
  let depth = 0
  let from = 0
  let before = ''
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    const [sign] = match
    const between = json.slice(from, match.index).trim()
    from = token.lastIndex
    if (between !== '') pieces.push(between)
    const isEmpty = between === '' && /^[{[]$/.test(before)
    const isEnd = sign === '}' || sign === ']'
    if (/^[{[]$/.test(before) && !(isEnd && isEmpty)) {
      depth += 1
      pieces.splice(between === '' ? pieces.length : -1, 0, newLine(depth))
    } else if (before === ',') pieces.splice(between === '' ? pieces.length : -1, 0, newLine(depth))
    if (isEnd && !isEmpty) {
      depth = Math.max(0, depth - 1)
      pieces.push(newLine(depth))
    }
    pieces.push(sign === ':' ? ': ' : sign)
    before = sign
  }
  return pieces.join('') + json.slice(from).trim()
}

function newLine(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, 40))}`
}

/** An event as a request that somebody else can send: for curl, the client and PHP. The key is left for them to fill in. */
export const copyKinds = ['curl', 'TypeScript', 'PHP'] as const
type CopyKind = (typeof copyKinds)[number]

const paths = {
  property: '/api/func/api/v1/events/geteventbyid/',
  contact: '/api/func/api/v1/contactevents/geteventbyid/',
} as const

/** Ids and tenants are UUIDs of the service's own, so nothing in them needs quoting. */
export function copyAs(
  kind: CopyKind,
  serviceUrl: string,
  feed: FeedName,
  { id, tenantId }: Pick<FeedEvent, 'id' | 'tenantId'>,
): string {
  const url = `${serviceUrl}${paths[feed]}${id}`
  const samples: Readonly<Record<CopyKind, string>> = {
    curl: `curl -H "x-api-key: $PROPERTY_EVENTS_KEY" -H 'x-tenant: ${tenantId}' '${quoted(url)}'`,
    TypeScript: `import { createClient } from '@property-events/client'

const client = createClient({
  baseUrl: '${quoted(serviceUrl)}',
  key: process.env.PROPERTY_EVENTS_KEY ?? '',
  tenant: '${tenantId}',
  feed: '${feed}',
})
const event = await client.get('${id}')`,
    PHP: `<?php
$context = stream_context_create(['http' => ['header' => ['x-api-key: ' . getenv('PROPERTY_EVENTS_KEY'), 'x-tenant: ${tenantId}']]]);
$event = json_decode(file_get_contents('${quoted(url)}', false, $context), true, 512, JSON_THROW_ON_ERROR);`,
  }
  return samples[kind]
}

/** Goes between single quotes in a shell, in TypeScript and in PHP. An address contains none of them unencoded. */
function quoted(url: string): string {
  return url.replaceAll("'", '%27').replaceAll('\\', '%5C')
}
