/** An event as a request that somebody else can send: for curl, the client and PHP. The key is left for them to fill in. */
import type { FeedName } from '../../base.ts'
import type { FeedEvent } from '@property-events/protocol/wire'

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
