/** The tables that a page about a home is made with, for PHP: those of the client, so that both make the same page. */
import { blockNames, inlineNames } from '../../../client/src/listing/description.ts'
import { windows } from '../../../client/src/listing/entities.ts'
import { allNames, oldNames } from '../../../client/src/listing/entity-names.ts'
import { kindOfType } from '../../../client/src/listing/media.ts'
import { frequencyTexts } from '../../../client/src/listing/price.ts'

const lineLength = 130

/** The class `ListingTables`, as the second part of `examples/php/CodeNames.php`. */
export function listingTablesPhp(): string {
  return `
/** The tables of the TypeScript client (packages/client/src/listing). */
final class ListingTables
{
    /** How often a rent is paid, by payments a year. */
    public const FREQUENCY_TEXTS = ${mapOf(Object.entries(frequencyTexts))};
    /** In which list a medium stands, by its type. */
    public const MEDIA_KINDS = ${mapOf(Object.entries(kindOfType))};
    /** Elements that begin a block of their own. */
    public const BLOCKS = ${listOf([...blockNames].map(text))};
    public const INLINE = ${mapOf(Object.entries(inlineNames))};
    /** What Windows has at 128 to 159. */
    public const WINDOWS = ${listOf(Array.from(windows, (character) => text(character.trim())))};
    /** Names of characters that browsers know without a semicolon, too. */
    public const OLD_ENTITIES = ${mapOf(oldNames)};
    public const ENTITIES = self::OLD_ENTITIES + ${mapOf([...allNames].filter(([name]) => !oldNames.has(name)))};
}
`
}

function mapOf(entries: Iterable<readonly [string, string]>): string {
  return listOf(
    Array.from(entries, ([key, value]) => `${/^\d+$/.test(key) ? key : text(key)} => ${text(value)}`),
  )
}

/** As many to a line as it takes. */
function listOf(items: readonly string[]): string {
  const lines: string[] = []
  for (const item of items) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + item.length + 2 <= lineLength)
      lines[lines.length - 1] = `${last} ${item},`
    else lines.push(`        ${item},`)
  }
  return `[\n${lines.join('\n')}\n    ]`
}

/** What cannot be seen is written as its number. */
function text(value: string): string {
  if (/[^ \p{L}\p{N}\p{P}\p{S}]/u.test(value)) {
    return `"${Array.from(value, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join('')}"`
  }
  return `'${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
