/**
 * What a running service finds out about itself and its store: like `doctor`, except for checks that write, take long or look for free
 * ports.
 */
import type { GivenPeppers } from '../keys/key-pepper.ts'
import { checkDatabase } from './check-database.ts'
import { checkDiskSpace, checkPageSpace } from './check-machine.ts'
import { checkNode, thisNode } from './check-node.ts'
import { checkStore } from './check-store.ts'
import type { Finding } from './finding.ts'

export interface CheckedService {
  readonly data: string
  readonly database: string | undefined
  readonly keyPepper: string | undefined
  readonly oldKeyPepper: string | undefined
  /** Flags that find the store. */
  readonly storeFlags: string
}

/** Each call checks again: some milliseconds, and with a database a separate connection. */
export function serviceFindings(service: CheckedService): () => Promise<readonly Finding[]> {
  const { data: folder, database, keyPepper: given, oldKeyPepper: old, storeFlags } = service
  const peppers: GivenPeppers = { given, old }
  return async () => [
    checkNode(thisNode(), { again: false }),
    ...(database === undefined
      ? [checkDiskSpace(folder), ...checkStore(folder, peppers, Date.now(), storeFlags, { readsAll: false })]
      : [
          checkPageSpace(folder),
          ...(await checkDatabase(database, folder, peppers, Date.now(), storeFlags)),
        ]),
  ]
}
