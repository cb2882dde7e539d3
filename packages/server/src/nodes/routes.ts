/** `GET /v1/admin/settings` and `/v1/admin/health`: information for operators about the answering service (PROTOCOL §12.10). */
import { uncachedAnswer } from '../http/exchange.ts'
import type { Operation } from '../http/operation.ts'
import { adminOperation, noParameters } from '../http/admin-operation.ts'
import type { AdminContext } from '../http/admin-operation.ts'
import type { Finding, ShownSetting } from './recent-findings.ts'

interface Context extends AdminContext {
  /** What was found out about this node and its store, at most a few seconds ago. */
  readonly findings: () => Promise<readonly Finding[]>
  readonly shownSettings: readonly ShownSetting[]
}

export function readShownSettings(context: Context): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'GET',
    path: '/settings',
    need: 'admin:inspect',
    operatorsOnly: true,
    operationId: 'readSettings',
    summary: 'Read the settings of the service',
    description:
      'Each setting of the node that answers, with its value and where the value comes from, as `config print` shows it. Secrets are `(not shown)`.',
    ok: { description: 'The settings.', schema: 'ShownSettings' },
    answer: () => uncachedAnswer({ items: context.shownSettings, next: null }),
  })
}

const worst = ['fail', 'warn'] as const

export function readHealth(context: Context): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'GET',
    path: '/health',
    need: 'admin:inspect',
    operatorsOnly: true,
    operationId: 'readHealth',
    summary: 'Get the findings of doctor',
    description:
      'What `doctor` finds, as far as a running service can tell, of the node that answers and its store; at most a few seconds old.',
    ok: { description: 'The findings.', schema: 'Health' },
    async answer() {
      const items = await context.findings()
      const status = worst.find((word) => items.some((finding) => finding.status === word)) ?? 'ok'
      const shown = items.map(({ check, status: of, detail, remedy }) => {
        return { check, status: of, detail, remedy: remedy ?? null }
      })
      return uncachedAnswer({ status, items: shown, next: null })
    },
  })
}
