/** A contact as somebody sees it who has no business with the person: what is filled in, and nothing that names or reaches anybody. */

const hidden = '•••'

/** Members that say nothing of a person, by where they stand. All others are hidden, unknown ones included. */
const shown: Readonly<Record<string, readonly string[]>> = {
  '': ['contact_ref', 'kind', 'roles', 'branch_id', 'create_date', 'update_date', 'erased', 'thinned'],
  communications: ['channel', 'preferred'],
  consent: ['marketing', 'given_date'],
  properties: ['agent_ref', 'role'],
}

/** `payload`: JSON text of a contact. */
export function maskedContact(payload: string): unknown {
  const value: unknown = JSON.parse(payload)
  return masked(value, '')
}

/** `place`: the member that the value is of, or the list it stands in. */
function masked(value: unknown, place: string): unknown {
  if (Array.isArray(value)) return value.map((one) => masked(one, place))
  if (typeof value !== 'object' || value === null) return value === null ? null : hidden
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (shown[place]?.includes(name) === true) return [name, member]
      return [name, masked(member, name)]
    }),
  )
}
