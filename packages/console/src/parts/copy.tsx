/** Takes a text along: a button that copies it, and a file to save. */
import { useEffect, useState } from 'preact/hooks'

interface Props {
  readonly text: string
  /** On the button: `Copy`. */
  readonly label?: string
  /** What is copied, for screen readers: `Copy the request id`. */
  readonly name?: string
}

export function Copy({ text, label = 'Copy', name }: Props) {
  const [said, say] = useState<string>()
  useEffect(() => {
    if (said === undefined) return undefined
    const timer = setTimeout(() => say(undefined), 2_000)
    return () => clearTimeout(timer)
  }, [said])
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
      say('Copied')
    } catch {
      // Browsers give no clipboard to http pages of other machines.
      say('Not allowed here: select the text')
    }
  }
  return (
    <button
      type="button"
      class="copy"
      aria-label={said === undefined ? name : undefined}
      onClick={() => void copy()}
    >
      <span role="status">{said ?? label}</span>
    </button>
  )
}

/** Gives the browser a file to save. */
export function saveFile(name: string, value: unknown): void {
  const text = `${JSON.stringify(value, undefined, 2)}\n`
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
