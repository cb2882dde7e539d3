/** Finds the keys of readers that have stopped at an event type that they do not know. */
import { openStorage, stoppedReaders } from '@property-events/server'
import type { StoppedReader } from '@property-events/server'
import { warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** The store is there, whole, and of this program's schema. */
export async function checkReaders({ folder, database }: StorePlace): Promise<readonly Finding[]> {
  const place =
    database === undefined
      ? ({ kind: 'sqlite', folder, writesOn: 'thisThread' } as const)
      : ({ kind: 'postgres', url: database, readConnections: 1 } as const)
  await using storage = await openStorage({ ...place, create: false })
  return readersFinding(await stoppedReaders(storage, Date.now()))
}

interface StorePlace {
  readonly folder: string
  readonly database: string | undefined
}

const mostNamed = 3

/** None while all read on. */
function readersFinding(stopped: readonly StoppedReader[]): readonly Finding[] {
  if (stopped.length === 0) return []
  const named = stopped.slice(0, mostNamed).map(({ tenantName, keyId, label, after }) => {
    return `"${label === '' ? keyId : label}" of ${tenantName} after number ${after}`
  })
  const rest = stopped.length > mostNamed ? ` and ${stopped.length - mostNamed} more` : ''
  return [
    warn(
      'readers',
      `these keys ask for the first page of the list alone, although there is more, so their readers probably stop at an event type that they do not know: ${named.join(', ')}${rest}`,
      'If a reader knows only event types 0 and 1, as the public property importer for WordPress does, give it a new key, made with `keys create --reader wordpress-importer`, and revoke the old one. `consumers list` shows what each lacks.',
    ),
  ]
}
