/** A masked contact: it shows which members are filled in, and nothing that names or reaches anybody. */

const hidden = '•••'

/** Members that reveal nothing about a person, by place. All others are hidden, including unknown ones. */
const shown: Readonly<Record<string, readonly string[]>> = {
  '': ['contact_ref', 'kind', 'roles', 'branch_id', 'create_date', 'update_date', 'erased', 'thinned'],
  communications: ['channel', 'preferred'],
  consent: ['marketing', 'given_date'],
  properties: ['agent_ref', 'role'],
}

/** `payload`: JSON text of a contact. */
export function maskedContact(payload: string): Readonly<Record<string, unknown>> {
  const value: object = JSON.parse(payload)
  return maskedMembers(value, '')
}

/** `place`: the member that the value belongs to, or the list that it is in. */
function masked(value: unknown, place: string): unknown {
  if (Array.isArray(value)) return value.map((one) => masked(one, place))
  if (typeof value !== 'object' || value === null) return value === null ? null : hidden
  return maskedMembers(value, place)
}

function maskedMembers(value: object, place: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (shown[place]?.includes(name) === true) return [name, member]
      return [name, masked(member, name)]
    }),
  )
}
