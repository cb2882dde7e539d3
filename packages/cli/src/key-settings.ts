/** The key that a command asks a service with, and whose tenant it is for. */
import { parseUuid } from '@property-events/protocol'
import { text } from './setting.ts'

export const keySettings = {
  key: text(
    {
      name: 'key',
      argument: 'key',
      description: 'API key (better in PROPERTY_EVENTS_KEY: others see command lines)',
      secret: true,
      expected: 'an API key',
    },
    undefined,
    (key) => (/^[\x21-\x7e]{1,200}$/.test(key) ? key : undefined),
  ),
  keyTenant: text(
    {
      name: 'key-tenant',
      argument: 'id',
      description: 'the tenant, for a key that covers several',
      fallbackWords: 'none',
      expected: 'the id of a tenant, a UUID',
    },
    undefined,
    (id) => parseUuid(id),
  ),
} as const
