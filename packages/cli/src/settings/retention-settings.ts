/** How long payloads are kept (D17): part of the settings of `serve`, and of the command `retention`. */
import { readWholeNumber } from '@property-events/protocol'
import { defaultLimits } from '@property-events/server/plain'
import type { RetentionDefaults } from '@property-events/server'
import type { SettingReader, Setting, SettingWords } from './setting.ts'
import { text } from './setting.ts'

/** A hundred years. */
const mostDays = 36_500

/** `400d` as whole days, `off` as 0. */
export function readDays(written: string): number | undefined {
  if (written === 'off') return 0
  const [, digits = ''] = /^([0-9]+)d$/.exec(written) ?? []
  const days = readWholeNumber(digits, { from: 1, to: mostDays })
  return days
}

export function daysText(days: number): string {
  return days === 0 ? 'off' : `${days}d`
}

function days(words: SettingWords): Setting<number> {
  const expected = 'a number of days such as 400d, or off'
  return text<number, number>({ argument: 'days', fallbackWords: 'off', ...words, expected }, 0, readDays)
}

export const retentionSettings = {
  retainContacts: days({
    name: 'retain-contacts',
    description: 'superseded contact events older than this lose their payloads; a contact’s latest never',
  }),
  retainProperties: days({
    name: 'retain-properties',
    description: 'superseded property events older than this lose their payloads; a property’s latest never',
  }),
  resultDays: text<number, number>(
    {
      name: 'result-days',
      argument: 'days',
      description:
        'how long it is kept when consumers were first sent something, and what they reported of properties',
      expected: `a number of days such as ${defaultLimits.resultDays}d, ${mostDays}d at most`,
      fallbackWords: `${defaultLimits.resultDays}d`,
    },
    defaultLimits.resultDays,
    (written) => {
      const found = readDays(written)
      return found === 0 ? undefined : found
    },
  ),
  expireContacts: days({
    name: 'expire-contacts',
    description:
      'contacts unchanged for this long are erased, after 30 days on the list of `contacts expiring`',
  }),
} as const

/** The rules for tenants without their own. */
export function readRetention(reader: SettingReader): RetentionDefaults {
  return {
    'retain-contacts': reader.value(retentionSettings.retainContacts),
    'retain-properties': reader.value(retentionSettings.retainProperties),
    'expire-contacts': reader.value(retentionSettings.expireContacts),
  }
}
