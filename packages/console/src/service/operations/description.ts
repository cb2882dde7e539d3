/** The service's description of itself. */
import type { ApiDocument } from '../../views/api/read-document.ts'
import type { Operation } from '../operation.ts'

/** Half a megabyte, 50 kB compressed, so it is requested only where it is shown. */
export function getOpenApi(): Operation<ApiDocument> {
  return { id: 'getOpenApi', method: 'GET', path: '/openapi.json', isOpen: true }
}
