/** The time, updated every second, for ages. It stops while the tab is hidden. */
import { signal } from '@preact/signals'

/** Milliseconds since 1970. */
export const now = signal(Date.now())

/** Whether the tab is visible. Everything that polls does so only then. */
export const isSeen = signal(!document.hidden)

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1_000)

document.addEventListener('visibilitychange', () => {
  isSeen.value = !document.hidden
  if (!document.hidden) now.value = Date.now()
})
