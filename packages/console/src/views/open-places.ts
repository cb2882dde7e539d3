/** Which places a session may see, by the table of views: where it arrives, and where links may lead. */
import { places } from '../base.ts'
import { seesAllTenants } from '../session/access.ts'
import type { Access } from '../session/access.ts'
import { views } from './index.ts'
import type { View } from './view.ts'

/** Where the user arrives after choosing a tenant: the first entry of its menu. */
export function firstPlace(access: Access, tenantId: string): string {
  return firstOf(access, tenantId, (place) => place.startsWith(`/tenants/${tenantId}/`)) ?? places.overview()
}

/** Where the user arrives after signing in; `undefined`: at the overview, the list of the key's tenants, or what a key without a view may do. */
export function arrival(access: Access): string | undefined {
  if (seesAllTenants(access) || access.grants.length > 1) return undefined
  const [only] = access.grants
  const place =
    only === undefined ? firstOf(access, undefined, () => true) : firstPlace(access, only.tenantId)
  return place === places.overview() ? undefined : place
}

function firstOf(
  access: Access,
  tenantId: string | undefined,
  suits: (place: string) => boolean,
): string | undefined {
  const entries = views.flatMap(({ menu }) => menu?.(access, tenantId) ?? [])
  return entries.find(({ place }) => suits(place))?.place
}

/** Whether a view at one of `places` is open to the session. A link to any other is not offered. */
export function mayOpen(access: Access, place: string): boolean {
  const [path = ''] = place.split(/[?#]/)
  return views.some((view) => {
    const parts = partsOf(view, path)
    return parts !== undefined && view.isOpen?.(access, parts) !== false
  })
}

/** The parts of the address by their names; `undefined`: it is another view's. */
function partsOf({ path }: View, address: string): Readonly<Record<string, string>> | undefined {
  const names = path.split('/')
  const parts = address.split('/')
  const isSame = names.every((name, n) =>
    name.startsWith(':') ? name.endsWith('?') || (parts[n] ?? '') !== '' : name === parts[n],
  )
  if (!isSame || parts.length > names.length) return undefined
  const found: Record<string, string> = {}
  for (const [n, name] of names.entries()) {
    if (name.startsWith(':')) found[name.replace(/^:|\?$/g, '')] = parts[n] ?? ''
  }
  return found
}
