/** Loaded before an example: ends the process, as kill -9 does, before or after its n-th COMMIT. For the tests. */
import { DatabaseSync } from 'node:sqlite'
import Database from 'better-sqlite3'
import { Client } from 'pg'

const [moment, number] = (process.env['KILL_AT_COMMIT'] ?? '').split(' ')
let commits = 0

function at(when: 'before' | 'after', text: unknown): void {
  if (text !== 'COMMIT') return
  if (when === 'before') commits += 1
  if (when === moment && commits === Number(number)) process.kill(process.pid, 'SIGKILL')
}

/** Puts the two moments around a method that is given the statement first. */
function watch(prototype: object, name: string): void {
  const method: unknown = Reflect.get(prototype, name)
  if (typeof method !== 'function') throw new Error(`no method ${name}`)
  Reflect.set(prototype, name, function watched(this: unknown, ...args: unknown[]): unknown {
    at('before', args[0])
    const result: unknown = Reflect.apply(method, this, args)
    if (!(result instanceof Promise)) {
      at('after', args[0])
      return result
    }
    return result.then((value: unknown) => {
      at('after', args[0])
      return value
    })
  })
}

watch(DatabaseSync.prototype, 'exec')
watch(Database.prototype, 'exec')
watch(Client.prototype, 'query')
