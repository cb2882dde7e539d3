/** Bodies that make or change a tenant (PROTOCOL §12). */
import { hasAtMost, plainText } from '@property-events/protocol'
import type { TenantChange } from '../tenant.ts'
import { readObject } from '../../http/requests/body-members.ts'
import type { BodyMembers, BodyReading } from '../../http/requests/body-members.ts'

interface NewTenantBody {
  /** Lower case; `undefined`: a new id is made. */
  readonly tenantId: string | undefined
  readonly name: string
  readonly reference: string | undefined
}

/** The same rule as on the command line. */
export function isTenantName(text: string): boolean {
  return text.trim() !== '' && hasAtMost(text, 200) && plainText(text) === text
}

export const tenantNameWords = '1 to 200 characters, not only blanks, and no control characters'

/** A number or a short word from the operator's own system. It has no blank, so that it can be in a list of words. */
export function isReference(text: string): boolean {
  return /^[!-~]{1,100}$/.test(text)
}

export const referenceWords = '1 to 100 printable ASCII characters without blanks'

export function readNewTenant(text: string): BodyReading<NewTenantBody> {
  const names = ['tenantId', 'name', 'reference'] as const
  return readObject(text, names, '{"name":"Hill & Co, Guildford"}', (members) => {
    const tenantId = members.given.has('tenantId') ? members.uuid('tenantId') : undefined
    const name = readName(members)
    if (!members.given.has('name')) members.fault('name', `name must be ${tenantNameWords}.`)
    const reference = readReference(members)
    return name === undefined ? undefined : { tenantId, name, reference }
  })
}

export function readTenantChange(text: string): BodyReading<TenantChange> {
  const names = ['name', 'reference', 'suspended', 'duties'] as const
  return readObject(text, names, '{"name":"Hill & Sons","suspended":false}', (members) => {
    for (const member of ['name', 'suspended', 'duties'] as const) {
      if (members.nulls.has(member))
        members.fault(member, `${member} cannot be removed; leave it out to keep it.`)
    }
    const name = readName(members)
    const reference = members.nulls.has('reference') ? null : readReference(members)
    const [suspended, duties] = [readFlag(members, 'suspended'), readFlag(members, 'duties')]
    return { name, reference, suspended, duties }
  })
}

function readFlag<Name extends string>(members: BodyMembers<Name>, name: Name): boolean | undefined {
  const value = members.given.get(name)
  if (typeof value === 'boolean') return value
  if (value !== undefined) members.fault(name, `${name} must be true or false.`)
  return undefined
}

function readName(members: BodyMembers<'name'>): string | undefined {
  return members.matching('name', isTenantName, tenantNameWords)
}

function readReference(members: BodyMembers<'reference'>): string | undefined {
  return members.matching('reference', isReference, referenceWords)
}

/** `null` erases the name. */
export function readActorName(text: string): BodyReading<{ readonly name: string | null }> {
  return readObject(text, ['name'], '{"name":"A. Person"}', (members) => {
    const name = members.nulls.has('name') ? null : readName(members)
    if (name === undefined && !members.given.has('name')) {
      members.fault('name', `name must be ${tenantNameWords}; or null, which erases it.`)
    }
    return name === undefined ? undefined : { name }
  })
}
