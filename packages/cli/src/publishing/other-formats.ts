/**
 * Recognises, by their beginning, files that are not for `publish`, so that one message names the format and not every
 * line is refused.
 */
import { commandLine } from '../program-name.ts'
import { Refusal } from '../refusal.ts'

/** The name of the format, and what to do with such a file. */
interface OtherFormat {
  readonly name: string
  readonly remedy: string
}

const convert =
  'Turn each property into a line such as {"payload": {"agent_ref": "…", "published": true}} (docs/publishing.md)'
const references = () => `\`${commandLine('reference')}\` makes the agent_ref of references that are no UUIDs`

/** First bytes of files that are not text. */
const signatures: readonly (readonly [bytes: readonly number[], format: OtherFormat])[] = [
  [
    [0x50, 0x4b, 0x03, 0x04],
    { name: 'a ZIP archive or a spreadsheet', remedy: 'Unpack it first, or export NDJSON' },
  ],
  [
    [0x1f, 0x8b],
    {
      name: 'compressed with gzip',
      remedy: `Unpack it on the way: gunzip -c FILE | ${commandLine('publish -')}`,
    },
  ],
  [
    [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66],
    { name: 'an SQLite database', remedy: 'Export NDJSON from it' },
  ],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], { name: 'a PDF', remedy: 'Export NDJSON from where it was made' }],
]

/**
 * Throws a `Refusal` when the beginning of a file is in another format. Not when it is merely faulty: lines are checked
 * one by one.
 */
export function refuseOtherFormats(start: Buffer): void {
  const format = otherFormatOf(start)
  if (format === undefined) return
  throw new Refusal(`This is ${format.name}, and publish takes NDJSON or JSON. ${format.remedy}.`)
}

function otherFormatOf(start: Buffer): OtherFormat | undefined {
  const binary = signatures.find(([bytes]) => start.subarray(0, bytes.length).equals(Buffer.from(bytes)))
  if (binary !== undefined) return binary[1]
  const wide = wideTextOf(start)
  const text = (wide ?? start.toString('utf8')).replace(/^\ufeff/, '').trimStart()
  const format = textFormatOf(text)
  if (format !== undefined || wide === undefined) return format
  return {
    name: 'text in UTF-16',
    remedy: `Save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE | ${commandLine('publish -')}`,
  }
}

/** Text in UTF-16, which Windows programs often write; `undefined` for any other. */
function wideTextOf(start: Buffer): string | undefined {
  const [first, second] = start
  if (first === 0xff && second === 0xfe) return start.toString('utf16le')
  if (first === 0xfe && second === 0xff) {
    const even = Buffer.from(start.subarray(0, start.length - (start.length % 2)))
    return even.swap16().toString('utf16le')
  }
  return undefined
}

function textFormatOf(text: string): OtherFormat | undefined {
  if (/^#HEADER#/i.test(text)) {
    return { name: 'a BLM file', remedy: `${convert}; ${references()}` }
  }
  if (/^<(!doctype html|html)/i.test(text)) {
    return {
      name: 'an HTML page',
      remedy: 'It may be an error or login page of the site it was fetched from; open it and see',
    }
  }
  if (text.startsWith('<')) return { name: 'XML', remedy: `${convert}; ${references()}` }
  if (/^\[?\s*\{\s*"(network|branch|property)"\s*:\s*\{/.test(text)) {
    return {
      name: 'a call of the Real Time Datafeed (RTDF)',
      remedy: `Send its "property" member as the payload: {"payload": {…}}; ${references()}`,
    }
  }
  // A guess from two lines, unlike the others.
  if (isTable(text)) {
    const remedy = `${convert}; ${references()}. If it is NDJSON all the same, say --format ndjson`
    return { name: 'CSV', remedy }
  }
  return undefined
}

/**
 * A first line of several names, and a second, if there is one, that is not JSON either. A single line may be a faulty
 * event.
 */
function isTable(text: string): boolean {
  const [head = '', second] = text.split('\n', 3).map((line) => line.trim())
  if (/^[{[]/.test(head) || second === undefined || second === '' || /^[{[]/.test(second)) return false
  return [',', ';', '\t', '|'].some((delimiter) => head.includes(delimiter) && second.includes(delimiter))
}
