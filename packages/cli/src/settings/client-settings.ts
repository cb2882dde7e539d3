/** The service that a command uses, the key with which it does, and whom the audit names for what it changes. */
import { parseUuid } from '@property-events/protocol'
import { text } from './setting.ts'

export const clientSettings = {
  url: text(
    {
      name: 'url',
      argument: 'url',
      description: 'base address of the service',
      expected: 'an http or https address such as http://127.0.0.1:8080',
    },
    'http://127.0.0.1:8080',
    readBaseUrl,
  ),
  actor: text(
    {
      name: 'actor',
      argument: 'id',
      description: 'who the audit says made a change: an id, not a person’s name',
      fallbackWords: 'an id derived from machine and account',
      variableOnly: true,
      expected: '1 to 40 letters, digits and hyphens',
    },
    undefined,
    (actor) => (/^[A-Za-z0-9-]{1,40}$/.test(actor) ? actor : undefined),
  ),
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

function readBaseUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined
  const url = new URL(value)
  const plain = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (!plain || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  return url.href.replace(/\/+$/, '')
}
