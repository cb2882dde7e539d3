/**
 * Loaded into a service (`--import`): it holds 400 MiB from the first SIGUSR2 on, and drops them at the next. They are old by then, so that
 * only a collection of all objects frees them, and nothing in an idle process makes V8 do one.
 */
let held: Uint8Array | undefined

process.on('SIGUSR2', () => {
  if (held === undefined) {
    held = new Uint8Array(400 * 2 ** 20).fill(1)
    globalThis.gc?.()
  } else held = undefined
})
