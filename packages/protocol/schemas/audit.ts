/** The audit, and the names of those who acted (PROTOCOL §12.6). */
import Type from 'typebox'
import { listed, moment, orNull, part, text, textOrNull, uuid } from './parts.ts'

export const actors = {
  ActorName: Type.Object(
    { actor: text('`key:` or `cli:` and an opaque id.'), name: textOrNull('Null: it has none.') },
    { title: 'ActorName' },
  ),
  ActorNameChange: Type.Object(
    {
      name: orNull(
        Type.String({ minLength: 1, maxLength: 200, pattern: String.raw`\S` }),
        'For people. Null erases it, and the rows of the audit stay.',
      ),
    },
    { title: 'ActorNameChange', additionalProperties: false },
  ),
} as const

export const audit = {
  AuditRows: listed(
    'AuditRows',
    part(
      'AuditRow',
      Type.Object({
        id: uuid('Of the row.'),
        at: moment('By the clock of the node that made the change.'),
        actor: text('`key:` or `cli:` and an opaque id, or `service`.'),
        actorName: orNull(
          Type.String(),
          'Its name, if it has one and an operator key asks. It is kept apart from the row, and can be erased.',
        ),
        action: text('What was done, such as `key.created`. Further ones may come.'),
        tenantId: orNull(Type.String({ format: 'uuid' }), 'Of the tenant; null where it concerns none.'),
        target: textOrNull('Id of what was changed.'),
        detail: Type.Record(Type.String(), Type.Unknown(), {
          description: 'Details of the action; never a name.',
        }),
      }),
    ),
  ),
} as const
