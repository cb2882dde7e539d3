/** What a feed shows now, for comparing copies (PROTOCOL §14.3). */
import Type from 'typebox'
import { epoch, whole } from './parts.ts'

const part = {
  prefix: Type.String({ description: 'How the references begin: hexadecimal digits, without hyphens.' }),
  count: whole('How many there are.'),
  digest: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'SHA-256 of a line for each, ascending by reference: the reference in lower case, a blank, its `sequenceNumber`, a line feed.',
  }),
}

const subject = Type.Object({
  subjectId: Type.String({ format: 'uuid', description: 'The reference.' }),
  sequenceNumber: Type.Integer({ minimum: 1, description: 'Of its latest event.' }),
})

const orNull = (schema: Type.TSchema, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const digest = {
  FeedDigest: Type.Object(
    {
      ...part,
      parts: orNull(
        Type.Array(Type.Object(part), { maxItems: 256 }),
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
