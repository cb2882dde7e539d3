/** What somebody filled in to make a key, read into the body of the request (PROTOCOL §12.4). */
import { branchScopes } from './key-scopes.ts'

/** As the form has it: texts. */
export interface KeyForm {
  readonly label: string
  readonly scopes: readonly string[]
  /** One a line. */
  readonly branches: string
  /** Days until its end; empty: it has none. */
  readonly days: string
  /** Addresses and networks, one a line. */
  readonly networks: string
}

export const emptyForm: KeyForm = {
  label: '',
  scopes: ['property:read'],
  branches: '',
  days: '',
  networks: '',
}

export interface KeyFault {
  readonly field: keyof KeyForm
  readonly message: string
}

export type KeyReading =
  | { readonly kind: 'body'; readonly body: object }
  | { readonly kind: 'faults'; readonly faults: readonly KeyFault[] }

const longestLabel = 200
const mostDays = 3_650

/** `tenantId`: of a key for one tenant; without one it is an operator key. The service checks it again. */
export function readKeyForm(form: KeyForm, tenantId: string | undefined, nowMs: number): KeyReading {
  const faults: KeyFault[] = []
  const fault = (field: keyof KeyForm, message: string): void => void faults.push({ field, message })
  const label = form.label.trim()
  if (label === '') fault('label', 'Say what will use the key, such as Website.')
  if (label.length > longestLabel) fault('label', `A label has at most ${longestLabel} characters.`)
  if (form.scopes.length === 0) fault('scopes', 'Choose one thing at least that the key may do.')
  const branches = linesOf(form.branches)
  const unlimited = form.scopes.filter((scope) => !branchScopes.includes(scope))
  if (branches.length > 0 && unlimited.length > 0) {
    const words = `Branches limit ${branchScopes.join(' and ')} alone. Make another key for ${unlimited.join(', ')}.`
    fault('branches', words)
  }
  const days = form.days.trim()
  const isDays = /^\d{1,4}$/.test(days) && Number(days) >= 1 && Number(days) <= mostDays
  if (days !== '' && !isDays) fault('days', `A whole number of days from 1 to ${mostDays}, or nothing.`)
  if (faults.length > 0) return { kind: 'faults', faults }
  const networks = linesOf(form.networks)
  const grant = { tenantId, scopes: form.scopes, ...(branches.length > 0 && { branches }) }
  return {
    kind: 'body',
    body: {
      label,
      ...(tenantId === undefined ? { operator: true, scopes: form.scopes } : { grants: [grant] }),
      ...(days === '' ? {} : { expiresAt: new Date(nowMs + Number(days) * 86_400_000).toISOString() }),
      ...(networks.length > 0 && { networks }),
    },
  }
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}
