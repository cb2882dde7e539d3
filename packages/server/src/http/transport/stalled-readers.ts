/**
 * Ends connections on which bytes of an answer wait and the client takes none of them. A time-out of the socket cannot do that: what the
 * client sends begins it anew, the first one after a write that the kernel took in part passes (`_onTimeout` of net.Socket, so a limit of
 * 30 s was one of 60), and it also ends a client whose store is slow in the middle of a page, for whom nothing waits.
 */
import type { Socket } from 'node:net'

/** Of a connection, as much as is looked at. */
export type Watched = Pick<Socket, 'destroyed' | 'writableLength' | 'bytesWritten' | 'destroy'>

/** To be called after a write of which some may still wait. A connection that is watched already costs a look into a map. */
export type WatchReader = (connection: Watched) => void

/** A reader that took nothing from one check to the next for this many times is ended: after the limit, and a fifteenth more at most. */
const checksWithout = 15

/**
 * `limitMs`: after the last byte that the kernel took. It takes bytes as the client makes room, on loopback up to 1.5 MB at once, so that long
 * writes show progress as well. All connections share one timer, which runs while one of them is watched.
 */
export function stalledReaders(limitMs: number): WatchReader {
  const readers = new Map<Watched, Progress>()
  let timer: NodeJS.Timeout | undefined

  const check = (): void => {
    for (const [connection, progress] of readers) {
      if (connection.destroyed || connection.writableLength === 0) {
        readers.delete(connection)
        continue
      }
      const sentBytes = sentBytesOf(connection)
      if (sentBytes !== progress.sentBytes) readers.set(connection, { sentBytes, checks: 0 })
      else if ((progress.checks += 1) >= checksWithout) {
        readers.delete(connection)
        connection.destroy()
      }
    }
    if (readers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return (connection) => {
    if (!readers.has(connection)) readers.set(connection, noProgress)
    timer ??= setInterval(check, limitMs / checksWithout).unref()
  }
}

interface Progress {
  /** Bytes that the kernel had taken at the last check that found more of them than the one before. */
  readonly sentBytes: number
  /** Since then. */
  checks: number
}

/** Most answers are taken before the first check, so all connections have this in common until then. */
const noProgress: Progress = { sentBytes: -1, checks: 0 }

/** Bytes of the connection that the kernel has taken. Only its handle knows of those of a write that is under way. */
function sentBytesOf(connection: Watched): number {
  const handle: unknown = Reflect.get(connection, '_handle')
  if (isWriting(handle)) return handle.bytesWritten - handle.writeQueueSize
  return connection.bytesWritten - connection.writableLength
}

/** Node's own, undocumented: `bytesWritten` includes what libuv has still in its queue. */
interface WritingHandle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

function isWriting(handle: unknown): handle is WritingHandle {
  return (
    typeof handle === 'object' &&
    handle !== null &&
    'bytesWritten' in handle &&
    typeof handle.bytesWritten === 'number' &&
    'writeQueueSize' in handle &&
    typeof handle.writeQueueSize === 'number'
  )
}
