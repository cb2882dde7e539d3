/** `GET /v1/admin/self`: the key of the request, and what it may do (PROTOCOL §12). */
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Operation } from '../../http/operation.ts'
import { adminOperation, noParameters } from '../../http/admin-operation.ts'
import { keyMembers } from './key-answer.ts'
import type { AdminContext } from '../../http/admin-operation.ts'
import type { KeyStore } from '../key.ts'

interface Context extends AdminContext {
  readonly keys: KeyStore
}

export function readSelf(context: Context): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'GET',
    path: '/self',
    need: 'anyKey',
    operationId: 'readSelf',
    summary: 'Get your own key: its scopes and tenants',
    description:
      'Of any key: its label, scopes, tenants, networks and end. Suspended tenants are listed as well, but the key cannot use them.',
    ok: { description: 'The key, without its text.', schema: 'Key' },
    async answer({ access: { keyId = '' } }) {
      const found = await context.keys.findKey(keyId)
      return found === undefined
        ? refused({ code: 'unauthorized' })
        : uncachedAnswer(keyMembers(found.record))
    },
  })
}
