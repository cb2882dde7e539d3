/** How many properties do not fit a duty by law (PROTOCOL §4.13). */
import Type from 'typebox'
import { duties } from '../src/payload/index.ts'
import { moment, next, oneOf, part, text, whole } from './parts.ts'

const duty = {
  code: oneOf(
    duties.map(({ code }) => code),
    'As in the warnings of receipts. Further values may come.',
  ),
  sentence: text('What an advert has to say or must not say.'),
  source: text('Where the law can be read.'),
  inForceFrom: moment('Since when it is in force. Before, nothing is counted.'),
  properties: whole('How many of the properties of this call do not fit it.'),
}
const refs = Type.Array(Type.String({ format: 'uuid' }), {
  maxItems: 100,
  description: 'The first of them by their `agent_ref`: those that were published longest ago.',
})
const counted = {
  advised: Type.Boolean({ description: 'False: duties are switched off for the tenant.' }),
  properties: whole('Properties that are shown now, among those that this call has looked at.'),
  next,
}

export const dutyCounts = {
  DutyLists: Type.Object(
    {
      ...counted,
      items: Type.Array(part('DutyList', Type.Object({ ...duty, refs })), { description: 'By duty.' }),
    },
    { title: 'DutyLists' },
  ),
  DutyCounts: Type.Object(
    {
      ...counted,
      items: Type.Array(part('DutyCount', Type.Object(duty)), { description: 'By duty.' }),
    },
    { title: 'DutyCounts' },
  ),
} as const
