/** Requests as a shell sends them. */
import { isStream } from './request.ts'
import type { SampleRequest } from './request.ts'

export function curlSample({ operationId, method, target, needsKey, body }: SampleRequest): string {
  // What curl does by itself.
  const usual = body === undefined ? 'GET' : 'POST'
  const lines = [
    `curl --fail-with-body${isStream(operationId) ? ' --no-buffer' : ''}${method === usual ? '' : ` -X ${method}`}`,
    ...(needsKey ? [`-H "x-api-key: $PROPERTY_EVENTS_KEY"`] : []),
    ...(body === undefined ? [] : [`-H 'content-type: application/json'`]),
    `"$PROPERTY_EVENTS_URL${target}"`,
    ...(body === undefined
      ? []
      : [`-d '${JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`)}'`]),
  ]
  return lines.join(' \\\n  ')
}
