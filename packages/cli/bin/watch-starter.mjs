/** Notices that whoever started this process for the user is gone. Plain JavaScript for any Node from 20. */
import { readFileSync } from 'node:fs'

/**
 * Calls `stop` once, half a second at most after the starter has gone: a wrapper, or npm or npx, which run a command in a shell. Nothing
 * can pass on a SIGKILL, and a shell that has lost npm waits for its command all the same. Windows always names the first parent.
 */
export function watchStarter(stop) {
  const starters = startersNow()
  const watch = setInterval(() => {
    if (startersNow() === starters) return
    clearInterval(watch)
    stop()
  }, 500)
  watch.unref()
}

/** The parent and, if that is a shell, its parent, as one text. */
function startersNow() {
  const { name, parent } = statusOf(process.ppid)
  return /^(?:ba|da|a)?sh$|^busybox$/.test(name) ? `${process.ppid} ${parent}` : String(process.ppid)
}

/** Where the system tells it as a file. macOS does not, but its shell puts the command in its own place. */
function statusOf(pid) {
  try {
    const [, name = '', parent = ''] =
      /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return { name, parent }
  } catch {
    return { name: '', parent: '' }
  }
}
