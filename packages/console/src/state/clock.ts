/** The time, once a second, for ages. It stands still while the tab is not seen. */
import { signal } from '@preact/signals'

/** Milliseconds since 1970. */
export const now = signal(Date.now())

/** Whether the tab is seen: what asks again and again does so only then. */
export const isSeen = signal(!document.hidden)

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1_000)

document.addEventListener('visibilitychange', () => {
  isSeen.value = !document.hidden
  if (!document.hidden) now.value = Date.now()
})
