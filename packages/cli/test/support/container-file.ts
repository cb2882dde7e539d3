/** The instructions of a container file, as far as ours uses the format. */
export interface Instruction {
  /** In capitals. */
  readonly name: string
  /** All that follows the name, on one line. */
  readonly text: string
  /** The same divided; of the JSON form its members. */
  readonly words: readonly string[]
}

export function instructionsIn(file: string): readonly Instruction[] {
  return file
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
      if (name === '') throw new Error(`no instruction: ${line}`)
      return { name, text, words: wordsOf(text) }
    })
}

function wordsOf(text: string): readonly string[] {
  const json = text.indexOf('[')
  if (!text.endsWith(']') || json < 0) return text.split(/\s+/)
  const members: unknown = JSON.parse(text.slice(json))
  return [
    ...text.slice(0, json).split(/\s+/).filter(Boolean),
    ...(Array.isArray(members) ? members.map(String) : []),
  ]
}
