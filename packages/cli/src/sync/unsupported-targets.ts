/** Names that suggest a kind of file that a copy cannot be. */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { commandLine } from '../program-name.ts'
import { Refusal } from '../refusal.ts'
import { plainText, shellWord } from '../terminal-text.ts'

const archive = 'archive'
const spreadsheet = 'spreadsheet'

/** The kind of file that a name ending so suggests. */
const kinds: Readonly<Record<string, string>> = {
  csv: 'CSV',
  tsv: 'CSV',
  json: 'JSON file',
  jsonl: 'other kind of JSON file than NDJSON, which is the same as JSON Lines',
  jsonlines: 'other kind of JSON file than NDJSON, which is the same as JSON Lines',
  geojson: 'JSON file',
  ndjson: 'file whose name does not end in .ndjson, in lower case',
  xml: 'XML',
  blm: 'BLM',
  txt: 'text',
  log: 'text',
  md: 'text',
  html: 'HTML',
  htm: 'HTML',
  pdf: 'PDF',
  yaml: 'YAML',
  yml: 'YAML',
  sql: 'SQL',
  parquet: 'Parquet',
  xls: spreadsheet,
  xlsx: spreadsheet,
  ods: spreadsheet,
  gz: archive,
  tgz: archive,
  tar: archive,
  zip: archive,
  zst: archive,
  bz2: archive,
}

const sqliteEndings: ReadonlySet<string> = new Set(['db', 'db3', 'sqlite', 'sqlite3'])

/**
 * Throws a `Refusal` for a target such as `x.csv`, which would become a folder of that name with JSON files. An
 * existing folder is accepted: it may be a copy.
 */
export function refuseOtherFiles(target: string): void {
  if (target.endsWith('.ndjson')) return
  const ending = /[^.]\.(\w+)$/.exec(basename(target))?.[1]?.toLowerCase() ?? ''
  const kind = Object.hasOwn(kinds, ending) ? kinds[ending] : undefined
  const isOther = kind !== undefined || sqliteEndings.has(ending)
  if (!isOther || statSync(target, { throwIfNoEntry: false })?.isDirectory() === true) return
  const name = target.replace(/(\.ndjson)?\.\w+$/i, '')
  if (sqliteEndings.has(ending)) {
    throw new Refusal(
      `${plainText(target)}: tables in SQLite have sqlite: before the file, \`${commandLine(`sync ${shellWord(`sqlite:${target}`)}`)}\`.`,
    )
  }
  throw new Refusal(
    `${plainText(target)}: sync writes no ${kind}. It keeps a folder with a JSON file for each property, ` +
      `\`${commandLine(`sync ${shellWord(name)}`)}\`, or one file with a line of JSON for each, ` +
      `\`${commandLine(`sync ${shellWord(`${name}.ndjson`)}`)}\`.`,
  )
}
