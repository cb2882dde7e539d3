/** What the service says of itself. */
import type { ApiDocument } from '../../views/api/read-document.ts'
import type { Operation } from '../operation.ts'

/** Half a megabyte, 50 kB on its way: asked for where it is shown. */
export function getOpenApi(): Operation<ApiDocument> {
  return { id: 'getOpenApi', method: 'GET', path: '/openapi.json', isOpen: true }
}
