import type { EpochNeed } from '../storage.ts'
import type { Connection } from './connection.ts'
import { metaOf } from './meta.ts'

/** Reads where publishing waits for a new epoch (D13). */
export function epochNeedReader(db: Connection): () => EpochNeed {
  const meta = metaOf(db)
  return () => (meta.get('needs_epoch') === '1' ? 'all' : 'none')
}
