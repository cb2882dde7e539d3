/** `PATCH /v1/admin/actors/{actor}`: the name that an actor of the audit is shown with (PROTOCOL §12.6). */
import { uncachedAnswer, invalidParameters } from '../../http/exchange.ts'
import { readActorName } from '../../tenants/routes/tenant-body.ts'
import type { Operation } from '../../http/operation.ts'
import { withReadBody } from '../../http/requests/read-body.ts'
import { isNamedActor } from './names.ts'
import { adminOperation, noParameters } from '../../http/admin-operation.ts'
import { actorOf } from '../../tenants/routes/tenants.ts'
import type { NameStore } from './names.ts'
import type { AdminContext } from '../../http/admin-operation.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'

interface Context extends AdminContext, BodyContext {
  readonly names: NameStore
}

export function nameActor(context: Context): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'PATCH',
    path: '/actors/:actor',
    need: 'admin:manage',
    operatorsOnly: true,
    operationId: 'nameActor',
    summary: 'Set or erase the name of an actor of the audit',
    description:
      'Rows of the audit have opaque actors and never change. The name is kept apart from them, and can be erased.',
    body: 'ActorNameChange',
    ok: { description: 'The actor and its name.', schema: 'ActorName' },
    answer: (asked) => {
      const [actor = ''] = asked.params
      if (!isNamedActor(actor)) return notAnActor()
      return withReadBody(context, asked, readActorName, async ({ name }) => {
        const by = actorOf(asked.access)
        if (name === null) await context.names.erase(actor, by)
        else await context.names.set({ actor, name }, by)
        return uncachedAnswer({ actor, name })
      })
    },
  })
}

function notAnActor() {
  const message = 'An actor is key: or cli: and its id, as rows of the audit have it.'
  return invalidParameters({ parameter: 'actor', code: 'not_an_actor', message })
}
