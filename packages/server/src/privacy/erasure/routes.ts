/** `GET /v1/erasures` and `/v1/erasures/{erasureId}`: receipts of what was erased (PROTOCOL §5.7). */
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import { idOperation, listDescription, listedPerPage, listOperation } from '../../http/listed.ts'
import type { Listed, ListContext } from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import { erasingTenant, maySee } from './erasing-access.ts'
import type { ErasureStore } from './erasure.ts'
import { erasureReceipt, wholeReceipt } from './receipt.ts'
import type { ReceiptContext } from './receipt.ts'

/** What showing erasures needs. */
export interface ErasuresContext extends ListContext, ReceiptContext {
  readonly erasures: ErasureStore
}

const erasures: Listed = {
  one: 'an erasure',
  parameter: 'erasureId',
  path: '/v1/erasures',
  scope: 'anyErase',
}

export function getErasure(context: ErasuresContext): Operation {
  return idOperation(context, erasures, {
    operationId: 'getErasure',
    summary: 'Get the receipt of an erasure',
    description:
      'How far it is, and to whom the payloads had been sent. `unreachable`: no row, page or answer holds them any more.',
    ok: { description: 'The receipt.', schema: 'Erasure' },
    problems: ['erasure_not_found'],
    async answer(access, erasureId) {
      const tenant = erasingTenant(access)
      if (typeof tenant !== 'string') return tenant
      const erasure = await context.erasures.find(tenant, erasureId)
      if (erasure === undefined || !maySee(access, erasure)) return refused({ code: 'erasure_not_found' })
      return uncachedAnswer(await wholeReceipt(context, erasure))
    },
  })
}

export function listErasures(context: ErasuresContext): Operation {
  return listOperation(context, erasures, {
    operationId: 'listErasures',
    summary: 'List the receipts of erasures',
    description: listDescription('without recipients'),
    ok: { description: 'The receipts.', schema: 'Erasures' },
    name: 'erasures',
    async page(access, after) {
      const tenant = erasingTenant(access)
      if (typeof tenant !== 'string') return tenant
      const found = await context.erasures.list(tenant, after, listedPerPage)
      const backups = found.length === 0 ? [] : await context.backups()
      const shown = found.filter((erasure) => maySee(access, erasure))
      const rows = shown.map((erasure) => erasureReceipt(erasure, backups))
      return { rows, ids: found.map(({ erasureId }) => erasureId) }
    },
  })
}
