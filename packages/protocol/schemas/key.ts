/** Keys: what they may do, how they are made and changed, how they were used (PROTOCOL §12.4, §14.1). */
import Type from 'typebox'
import {
  adminScopes,
  contactFields,
  contactRoleNames,
  grantScopes,
  maxBranchLength,
  maxGrantedBranches,
} from '../src/plain.ts'
import { listed, moment, oneOf, orNull, part, text, textOrNull, time, uuid, whole } from './parts.ts'

const rate = part(
  'KeyRate',
  Type.Object(
    {
      perSecond: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Requests a second.' }),
      burst: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Requests at once.' }),
    },
    { description: 'Of this key, over all nodes together.', additionalProperties: false },
  ),
)
const networks = Type.Array(
  Type.String({ pattern: '^[0-9A-Fa-f.:]{2,45}(?:/[0-9]{1,3})?$', examples: ['192.0.2.0/24'] }),
  {
    maxItems: 100,
    description: 'Addresses and networks that it may be used from. Empty: any.',
  },
)
const operatorScopes = Type.Array(part('AdminScope', Type.Unsafe({ enum: [...adminScopes] })), {
  description: 'Of an operator key.',
})
const grants = Type.Array(
  part(
    'Grant',
    Type.Object(
      {
        tenantId: uuid('The tenant.'),
        scopes: Type.Array(part('GrantScope', Type.Unsafe({ enum: [...grantScopes] })), {
          minItems: 1,
          description: 'What it may do there.',
        }),
        contact: Type.Optional(
          part(
            'ContactGrant',
            Type.Object(
              {
                roles: Type.Optional(
                  Type.Array(part('ContactRole', Type.Unsafe({ enum: [...contactRoleNames] })), {
                    minItems: 1,
                    description:
                      'Only contacts with one of these roles; the others appear as erased. Left out: all.',
                  }),
                ),
                fields: Type.Optional(
                  Type.Array(part('ContactField', Type.Unsafe({ enum: [...contactFields] })), {
                    minItems: 1,
                    description: 'Only these members of the payload. Left out: all of them but `notes`.',
                  }),
                ),
              },
              {
                description:
                  'Which parts of contacts are read with `contact:read`. Left out: all. It never changes for a key.',
                additionalProperties: false,
              },
            ),
          ),
        ),
        branches: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: maxBranchLength }), {
            minItems: 1,
            maxItems: maxGrantedBranches,
            description:
              'Only properties of these branches, by the `branch_id` of their payloads, compared exactly. Only with `property:read`, `property:publish` and `property:webhooks`. Left out: all.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
  ),
  { description: 'What it may do, tenant by tenant.' },
)
export const label = Type.String({ maxLength: 200, description: 'For people: what the key is for.' })

const key = {
  keyId: text('Id of the key: the part after `pev_` in its text.'),
  label,
  operator: Type.Boolean({ description: 'It belongs to no tenant, and opens no feed.' }),
  scopes: operatorScopes,
  grants,
  networks,
  rate: orNull(rate, 'Null: the default rate.'),
  createdAt: moment('When it was created.'),
  expiresAt: time('When it ends by itself; null: never.'),
  revokedAt: time('When somebody ended it.'),
  lastUsedAt: time('When it was last used, at most a minute old.'),
  replaces: textOrNull('Id of the key that it replaced in a rotation.'),
}
export const keyText = text('The key itself. It is shown only in this answer.')

export const keys = {
  Key: Type.Object(key, { title: 'Key' }),
  Keys: listed('Keys', Type.Object(key)),
  IssuedKey: Type.Object({ key: keyText, ...key }, { title: 'IssuedKey' }),
  NewKey: Type.Object(
    {
      label: Type.Optional(label),
      operator: Type.Optional(
        Type.Boolean({ description: 'Make an operator key, which has `scopes` and no grants.' }),
      ),
      scopes: Type.Optional(operatorScopes),
      grants: Type.Optional(grants),
      expiresAt: Type.Optional(time('When it ends by itself.')),
      rate: Type.Optional(orNull(rate, 'Left out: the default rate.')),
      networks: Type.Optional(orNull(networks, 'Left out: any.')),
    },
    { title: 'NewKey', additionalProperties: false },
  ),
  KeyChange: Type.Object(
    {
      label: Type.Optional(label),
      expiresAt: Type.Optional(time('Null: it never ends by itself.')),
      rate: Type.Optional(orNull(rate, 'Null: the default rate.')),
      networks: Type.Optional(orNull(networks, 'Null: any.')),
    },
    {
      title: 'KeyChange',
      description: 'Members that are left out stay as they are.',
      additionalProperties: false,
    },
  ),
  RotateRequest: Type.Object(
    {
      overlapHours: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 720,
          default: 24,
          description: 'How long the old key keeps working.',
        }),
      ),
    },
    { title: 'RotateRequest', additionalProperties: false },
  ),
  RotatedKey: Type.Object(
    {
      key: keyText,
      ...key,
      replaced: Type.Object(
        { keyId: text('Of the old key.'), expiresAt: moment('When it ends.') },
        { description: 'The key that it replaces.' },
      ),
    },
    { title: 'RotatedKey' },
  ),
  KeyUsage: Type.Object(
    {
      keyId: text('Of the key.'),
      by: oneOf(['hour', 'day'], 'What is counted together.'),
      items: Type.Array(
        part(
          'UsageItem',
          Type.Object({
            at: moment('Beginning of the hour or day.'),
            operation: text('`operationId` of this description.'),
            status: Type.Integer({ minimum: 100, maximum: 599, description: 'Of the answers.' }),
            requests: whole('How many there were.'),
            bytes: whole('Of the bodies of the answers, as they were sent.'),
          }),
        ),
        { description: 'By time, operation and status.' },
      ),
    },
    { title: 'KeyUsage' },
  ),
} as const
