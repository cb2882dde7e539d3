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
