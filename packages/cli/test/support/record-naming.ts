/**
 * Loaded before the program: writes down when it flushes a file, and when it gives one its name, a line of JSON each, to the
 * file that RECORD_NAMING tells. A power cut cannot be made here; that nothing gets its name before it is on disk can be seen.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'

const { appendFileSync } = fs
const log = process.env['RECORD_NAMING'] ?? ''

export type Recorded =
  | { readonly kind: 'flushed'; readonly path: string }
  | { readonly kind: 'named'; readonly path: string; readonly as: string }

function record(what: Recorded): void {
  appendFileSync(log, `${JSON.stringify(what)}\n`)
}

/** Calls `after` with the arguments when the method has done its work, whether it answers at once or with a promise. */
function watch(object: object, name: string, after: (args: readonly unknown[], result: unknown) => void) {
  const method: unknown = Reflect.get(object, name)
  if (typeof method !== 'function') throw new Error(`no method ${name}`)
  Reflect.set(object, name, function watched(this: unknown, ...args: unknown[]): unknown {
    const result: unknown = Reflect.apply(method, this, args)
    if (!(result instanceof Promise)) {
      after(args, result)
      return result
    }
    return result.then((value: unknown) => {
      after(args, value)
      return value
    })
  })
}

const pathOf = (path: unknown): string => resolve(path instanceof URL ? path.pathname : String(path))

watch(fs.promises, 'open', ([path], handle) => {
  if (typeof handle !== 'object' || handle === null) return
  for (const flush of ['sync', 'datasync']) {
    watch(handle, flush, () => record({ kind: 'flushed', path: pathOf(path) }))
  }
})
const opened = new Map<unknown, string>()
watch(fs, 'openSync', ([path], number) => void opened.set(number, pathOf(path)))
for (const flush of ['fsyncSync', 'fdatasyncSync']) {
  watch(fs, flush, ([number]) => record({ kind: 'flushed', path: opened.get(number) ?? '' }))
}
const { fsync } = fs
fs.fsync = Object.assign((number: number, done: fs.NoParamCallback) => {
  fsync(number, (error) => {
    if (error === null) record({ kind: 'flushed', path: opened.get(number) ?? '' })
    done(error)
  })
}, fsync)
for (const [object, name] of [
  [fs.promises, 'rename'],
  [fs.promises, 'link'],
  [fs, 'renameSync'],
  [fs, 'linkSync'],
] as const) {
  watch(object, name, ([from, to]) => record({ kind: 'named', path: pathOf(from), as: pathOf(to) }))
}
syncBuiltinESMExports()
