/**
 * The address of the same view for another tenant: for a feed or for keys. `undefined` if the view shows something that only one tenant
 * has, such as a property, or has no tenant.
 */
export function sameViewOf(path: string, tenantId: string): string | undefined {
  const match = /^(.*\/tenants\/)[^/]+(\/(?:feeds\/[^/]+|[^/]+))$/.exec(path)
  return match === null ? undefined : `${match[1]}${tenantId}${match[2]}`
}
