/** The key with which a command uses a service, the tenant it is for, and its consumer name. */
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
  consumer: text(
    {
      name: 'consumer',
      argument: 'name',
      description:
        'what the key is used for here, such as website; if copies share a key, each needs its own name',
      fallbackWords: 'none',
      expected: '1 to 64 letters, digits, dots, underscores and hyphens, the first a letter or digit',
    },
    undefined,
    (name) => (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) ? name : undefined),
  ),
} as const
