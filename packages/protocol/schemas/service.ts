/** The service itself: its settings, how it is, and what needs attention (PROTOCOL §12.10, §12.11). */
import Type from 'typebox'
import { faultCodes } from '../src/plain.ts'
import { listed, moment, next, oneOf, orNull, part, text, textOrNull, time } from './parts.ts'

const finding = {
  check: text('What was looked at.'),
  status: oneOf(['ok', 'warn', 'fail'], 'How it is.'),
  detail: text('What was found.'),
  remedy: textOrNull('What to do; null: nothing.'),
}

const fault = {
  code: oneOf(faultCodes, 'What it is. Further ones may come.'),
  tenantId: orNull(Type.String({ format: 'uuid' }), 'Null: its key opens several tenants, or none.'),
  tenantName: textOrNull('What the tenant is called.'),
  feed: textOrNull('`property` or `contact`: of a publisher.'),
  keyId: textOrNull('Of a consumer or a key.'),
  label: textOrNull('Of the key.'),
  consumer: textOrNull('As in `x-feed-consumer`; `default`: the key itself.'),
  since: moment('Since when it is so; of a key that ends, when it was last used.'),
  endsAt: time('When the key ends, or has ended; null: it does not.'),
  reason: textOrNull('The code that it is refused with.'),
  refusals: orNull(Type.Integer({ minimum: 0 }), 'Requests that were refused since then.'),
}

export const service = {
  ShownSettings: listed(
    'ShownSettings',
    part(
      'ShownSetting',
      Type.Object({
        name: text('Name of the setting, as in its flag.'),
        variable: text('The environment variable that can set it.'),
        value: Type.Unknown({ description: 'A secret is `(not shown)`; null: none.' }),
        source: text('The flag or variable that sets it, or `default`.'),
      }),
    ),
  ),
  Health: Type.Object(
    {
      status: oneOf(['ok', 'warn', 'fail'], 'The worst of all findings.'),
      items: Type.Array(part('Finding', Type.Object(finding)), { description: 'One for each check.' }),
      next: Type.Null({ description: 'These are all.' }),
    },
    { title: 'Health' },
  ),
} as const

export const faults = {
  Faults: Type.Object(
    {
      items: Type.Array(part('ServiceFault', Type.Object(fault)), { description: 'The worst kind first.' }),
      next,
      hasMore: Type.Boolean({ description: 'There are more of a kind than are listed.' }),
      at: moment('As of when.'),
    },
    { title: 'Faults' },
  ),
} as const
