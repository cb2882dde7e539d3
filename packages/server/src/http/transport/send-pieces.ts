/** Answers that are made while they are sent: a piece is asked for when the kernel has taken the one before. */
import type { EndSignal } from '../../runtime/end-signal.ts'
import type { StreamAnswer } from '../exchange.ts'

/** How the bytes of one piece are written, with `done` called when they have left or cannot leave any more. */
type WritePiece = (piece: Uint8Array, done: (error?: Error | null) => void) => void

/** A socket, or what Node's HTTP answers with. */
export interface Closing {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/**
 * Resolves once all pieces are with the kernel (true), or with false when `out` has closed before, or the answer is over: it then has to be
 * cut off. Rejects as the pieces do, and where they are not as long as the answer's head says: nothing but cutting the answer off tells its reader.
 */
export async function sendPieces(answer: StreamAnswer, out: Closing, write: WritePiece): Promise<boolean> {
  let left = answer.byteLength
  for await (const piece of answer.pieces()) {
    if (left !== undefined) left -= piece.byteLength
    if (left !== undefined && left < 0) throw new Error('the answer is longer than its head says')
    if (answer.over?.aborted === true) return false
    if (piece.byteLength > 0 && !(await writeWhole(piece, out, write, answer.over))) return false
  }
  if (left !== undefined && left > 0) throw new Error('the answer is shorter than its head says')
  return true
}

/** Also when the connection closes meanwhile, of which the write itself may hear nothing, or the answer is over. */
function writeWhole(
  piece: Uint8Array,
  out: Closing,
  write: WritePiece,
  over: EndSignal | undefined,
): Promise<boolean> {
  if (out.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false)
    out.once('close', onClose)
    over?.addEventListener('abort', onClose)
    write(piece, (error) => {
      out.off('close', onClose)
      over?.removeEventListener('abort', onClose)
      resolve(error === undefined || error === null ? !out.destroyed : false)
    })
  })
}
