/**
 * The C library keeps what is freed in blocks of less than 128 kB, wherever something that is still in use lies above it: after hostile readers
 * and publications 120 to 200 MiB stayed resident, while V8's heaps had 37. Its `malloc_trim` gives every free page back to the system.
 *
 * Node 26 can call it (`node:ffi`, which is experimental there). On an older Node, or on another library than glibc, nothing is trimmed.
 */
import type * as NodeFfi from 'node:ffi'
import process from 'node:process'

let trim: (() => void) | undefined

/** For any thread: it trims what all of them have freed. What it needs is loaded by the first call (1.2 ms, 1 MB). */
export function trimMemory(): void {
  trim ??= memoryTrimmer() ?? (() => undefined)
  trim()
}

/** Undefined where memory cannot be trimmed. */
export function memoryTrimmer(): (() => void) | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const ffi: typeof NodeFfi | undefined = process.getBuiltinModule('node:ffi')
    // In the program itself: of whichever C library it runs on.
    const library = ffi?.dlopen(null, { malloc_trim: { arguments: ['u64'], return: 'i32' } })
    return library && (() => void library.functions.malloc_trim(0n))
  } catch {
    // Another C library has no such function, and Node's permissions may forbid the call.
    return undefined
  }
}
