/** What a feed shows now, for comparing copies (PROTOCOL §14.3). */
import Type from 'typebox'
import { epoch, orNull, part as named, text, uuid, whole } from './parts.ts'

const part = {
  prefix: text('How the references begin: hexadecimal digits, without hyphens.'),
  count: whole('How many there are.'),
  digest: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'SHA-256 of a line for each, ascending by reference: the reference in lower case, a blank, its `sequenceNumber`, a line feed.',
  }),
}

const subject = named(
  'DigestSubject',
  Type.Object({
    subjectId: uuid('The reference.'),
    sequenceNumber: Type.Integer({ minimum: 1, description: 'Of its latest event.' }),
  }),
)

export const digest = {
  FeedDigest: Type.Object(
    {
      ...part,
      parts: orNull(
        Type.Array(named('DigestPart', Type.Object(part)), { maxItems: 256 }),
        'By two more digits, those that are not empty, ascending. Null where `subjects` are listed.',
      ),
      subjects: orNull(
        Type.Array(subject, { maxItems: 1000 }),
        'All of them, ascending by reference; null where there are more than 1,000.',
      ),
      head: whole("The feed's last number before they were read."),
      epoch,
    },
    { title: 'FeedDigest', description: 'Subjects that are shown now.' },
  ),
} as const
