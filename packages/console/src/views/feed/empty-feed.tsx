/** An empty feed, and how to publish the first event into it. */
import type { FeedName } from '../../base.ts'
import { Copy } from '../../parts/copy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { signedIn } from '../../session/session.ts'

export function EmptyFeed({ feed }: { readonly feed: FeedName }) {
  const text = firstEvent(signedIn().serviceUrl, feed)
  return (
    <Empty title="Nothing has been published to this feed yet.">
      <p>
        Publish the first event with a key that has the scope <code>{feed}:publish</code>. It shows here at
        once.
      </p>
      <pre>{text}</pre>
      <p>
        <Copy text={text} name="Copy the request" />
      </p>
    </Empty>
  )
}

function firstEvent(serviceUrl: string, feed: FeedName): string {
  const payload =
    feed === 'property'
      ? '{"agent_ref":"0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10","published":true,"price_information":{"price":450000}}'
      : '{"contact_ref":"0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a11","last_name":"Example"}'
  return `curl -X POST -H "x-api-key: $PROPERTY_EVENTS_KEY" -H 'content-type: application/json' \\
  -d '{"payload":${payload}}' \\
  '${serviceUrl}/v1/${feed}-events'`
}
