/** What this project advises for its own contact payload, field by field. */
import { codeIn, dateTime, inwardCode, list, outwardCode, record, text, textOf } from './advice-rules.ts'
import type { Complaint, RecordRule } from './advice-rules.ts'
import { contactChannels, contactKinds, contactRoles } from './contact-codes.ts'

const role = codeIn(contactRoles)

/** At most 254 characters, the longest address that mail can carry (RFC 5321 §4.5.3.1.3 less its brackets). */
const email = text((sent) => {
  return sent.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(sent)
    ? undefined
    : { code: 'bad_email', message: 'should be an e-mail address' }
})

const phone = text((sent) => {
  return /^\+?[0-9 ()./-]{6,30}(?:(?:x|ext)\.? ?[0-9]{1,6})?$/.test(sent)
    ? undefined
    : {
        code: 'bad_phone',
        message: 'should be a telephone number: digits, blanks, + ( ) . / - and an extension',
      }
})

const valueRules = new Map<unknown, typeof email>([
  ['email', email],
  ['phone', phone],
  ['mobile', phone],
  ['fax', phone],
])

const communication = record(
  {
    channel: codeIn(contactChannels),
    value: textOf(1, 320),
    label: textOf(0, 60),
    consent: record({ given_date: dateTime, source: textOf(0, 200) }, consentTogether),
  },
  ({ channel, value }, show) => complaintAbout('value', valueRules.get(channel)?.check(value, show)),
)

/** Postcodes are checked only when the address is in the United Kingdom or names no country. */
const address = record(
  {
    house_name_number: textOf(0, 60),
    address_2: textOf(0, 60),
    address_3: textOf(0, 60),
    address_4: textOf(0, 60),
    town: textOf(0, 60),
    display_address: textOf(0, 120),
    country: text((sent, show) => {
      return /^[A-Z]{2}$/.test(sent)
        ? undefined
        : {
            code: 'unknown_code',
            message: `should be an ISO 3166-1 code of two capital letters; ${show(sent)} was sent`,
          }
    }),
  },
  ({ country, postcode_1, postcode_2 }, show) => {
    if (country !== undefined && country !== null && country !== 'GB') return []
    return [
      ...complaintAbout('postcode_1', outwardCode.check(postcode_1, show)),
      ...complaintAbout('postcode_2', inwardCode.check(postcode_2, show)),
    ]
  },
)

export const contactAdvice: RecordRule = record({
  kind: codeIn(contactKinds),
  title: textOf(0, 40),
  first_name: textOf(0, 100),
  middle_name: textOf(0, 100),
  last_name: textOf(0, 100),
  suffix: textOf(0, 40),
  salutation: textOf(0, 100),
  company_name: textOf(0, 200),
  company_number: textOf(8, 8),
  job_title: textOf(0, 100),
  roles: list({ unique: true }, role),
  communications: list({ maxItems: 50 }, communication),
  address,
  properties: list({ maxItems: 1000 }, record({ role })),
  notes: textOf(0, 4000),
  create_date: dateTime,
  update_date: dateTime,
})

/** An agency that relies on a consent must be able to show when it was given (UK GDPR, article 7(1)). */
function consentTogether(
  consent: Readonly<Record<string, unknown>>,
): readonly (readonly [string, Complaint])[] {
  if (consent['marketing'] !== true || typeof consent['given_date'] === 'string') return []
  const message = 'should say when consent to marketing was given'
  return complaintAbout('given_date', { code: 'consent_without_date', message })
}

function complaintAbout(
  member: string,
  complaint: Complaint | undefined,
): readonly (readonly [string, Complaint])[] {
  return complaint === undefined ? [] : [[member, complaint]]
}
