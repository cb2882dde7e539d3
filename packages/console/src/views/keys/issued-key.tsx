/** A new key, shown only this once, with a request to try it. */
import { Copy } from '../../parts/copy.tsx'
import type { Key } from '@property-events/protocol/wire'
import { signedIn } from '../../session/session.ts'
import { firstRequest } from './first-request.ts'

interface Props {
  readonly issued: Key & { readonly key: string }
  readonly tenantId: string | undefined
}

export function IssuedKey({ issued, tenantId }: Props) {
  const { serviceUrl } = signedIn()
  const own = issued.grants.find((grant) => grant.tenantId === tenantId) ?? issued.grants[0]
  const request = firstRequest({
    text: issued.key,
    operator: issued.operator,
    scopes: own?.scopes ?? [],
    tenantId: issued.grants.length > 1 ? own?.tenantId : undefined,
    serviceUrl,
  })
  return (
    <div class="issued">
      <p role="status">
        <strong>Copy the key now: it will not be shown again.</strong>
      </p>
      <p>
        <code class="secret">{issued.key}</code> <Copy text={issued.key} name="Copy the key" />
      </p>
      <p>To try it:</p>
      <pre>{request}</pre>
      <p>
        <Copy text={request} label="Copy the request" />
      </p>
    </div>
  )
}
