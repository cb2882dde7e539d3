/** The terms on which a property was advertised at a moment (PROTOCOL §14.8), and the sentences that say so. They claim no more than is recorded. */
import type { PropertyTerms, TermsConsumer } from '../schemas/wire.ts'

/** What is left of the event in force. */
export const termsRecords = ['kept', 'erased', 'retention', 'none'] as const
export type TermsRecord = (typeof termsRecords)[number]

/** What is recorded of its sending to a consumer. */
export const termsSendings = ['first', 'time_not_recorded', 'not_recorded', 'no_record'] as const
export type TermsSending = (typeof termsSendings)[number]

type Said = Omit<PropertyTerms, 'record' | 'consumers' | 'sentence'> & { readonly record: TermsRecord }

export function termsSentence({ at, record, event, supersededBy, published }: Said): string {
  if (event === null) {
    return `At ${utc(at)} the feed had no event of the property: what was advertised then is not recorded.`
  }
  const { sequenceNumber, eventTypeShortCode, createdDate } = event
  const until = supersededBy === null ? 'and still is' : `until ${utc(supersededBy.createdDate)}`
  const stood = published === true ? 'was advertised' : 'was not advertised'
  const lost = {
    kept: '',
    erased: ' Its terms were erased.',
    retention: ' Its terms were removed by retention.',
    none: '',
  }
  return `At ${utc(at)} the property ${stood}: event ${sequenceNumber} (${eventTypeShortCode}) was in force from ${utc(createdDate)} ${until}.${lost[record]}`
}

type SaidOfConsumer = Omit<TermsConsumer, 'sent' | 'sentence'> & { readonly sent: TermsSending }

/** `recordedFrom`: what was reported before is not on record, nor is what was reported of an event that was erased. */
export function termsConsumerSentence(
  { sent, sentAt, applied, live }: SaidOfConsumer,
  {
    record,
    recordedFrom,
    isOlder,
  }: { readonly record: TermsRecord; readonly recordedFrom: string; readonly isOlder: boolean },
): string {
  const sendings = {
    // The record has minutes, and the event may be younger than the minute's first second.
    first: `First sent in the minute of ${sentAt === null ? '' : minuteOf(sentAt)}.`,
    time_not_recorded: 'Sent; when is not recorded.',
    not_recorded: `Whether it was sent is not recorded: the record begins at ${utc(recordedFrom)}.`,
    no_record: 'The record has no sending of it.',
  }
  const done =
    applied === null
      ? 'It has not reported that it applied it.'
      : `Applied by ${utc(applied.at)}, when it reported everything through ${applied.sequenceNumber}.`
  const gone = isOlder ? `; what it reported before ${utc(recordedFrom)} is not recorded` : ''
  const nowhere =
    record === 'erased'
      ? 'What it reported of the property was erased.'
      : `It has not reported where it showed it${gone}.`
  const shown = live.map(({ from, until, url }) => {
    const where = url === null ? 'at an address that it did not name' : `at ${url}`
    const begin = from === null ? 'since a time that is not recorded' : `from ${utc(from)}`
    const end = until === null ? 'with no end reported' : `until ${utc(until)}`
    return `Live ${begin}, ${end}, ${where}.`
  })
  return [sendings[sent], done, ...(shown.length === 0 ? [nowhere] : shown)].join(' ')
}

function minuteOf(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
}

/** To the second. */
function utc(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`
}
