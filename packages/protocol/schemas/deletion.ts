/** Deletions of tenants (PROTOCOL §12.9). */
import Type from 'typebox'
import { feedNames } from '../src/plain.ts'
import { listed, moment, oneOf, orNull, part, text, textOrNull, time, uuid, whole } from './parts.ts'

const deletedFeed = {
  feed: oneOf(feedNames, 'Which feed.'),
  sequenceNumber: whole(
    'Of its last event; if it had none, the number after which its numbers would have begun.',
  ),
  epoch: text('Its epoch.'),
  revision: whole('Its revision.'),
  events: whole('Its events.'),
  lastPublishedAt: time('When its last event was stored.'),
}
const ownedCounts = part(
  'OwnedCounts',
  Type.Object(
    {
      events: whole('Events of both feeds.'),
      subjects: whole('Properties and contacts.'),
      keys: whole('Keys that open no other tenant.'),
      grants: whole('Grants of keys that stay, because they open other tenants too.'),
      erasures: whole('Receipts of erasures.'),
      holds: whole('Holds.'),
      restrictions: whole('Restrictions.'),
      sent: whole('Rows of the ledger of what was sent.'),
    },
    { description: 'Rows by kind.' },
  ),
)
const deletion = {
  id: uuid('Of the deletion.'),
  tenantId: uuid('The tenant.'),
  name: textOrNull('Its name, until it is deleted.'),
  state: oneOf(
    ['exporting', 'deleting', 'forgetting', 'deleted'],
    '`deleted`: no row, page or answer holds anything of it any more.',
  ),
  actor: text('Who began it, without a name.'),
  export: oneOf(['file', 'none'], 'Whether it is exported first.'),
  exported: orNull(
    Type.Object({
      file: text('Name of the file.'),
      bytes: whole('Its size.'),
      sha256: text('SHA-256 of it, in hexadecimal digits.'),
    }),
    'Null: nothing was written, or not yet.',
  ),
  feeds: Type.Array(
    part(
      'DeletedFeed',
      Type.Object({
        ...deletedFeed,
        digest: text(
          'Of the events removed so far: SHA-256 of the digest before and of the line `sequenceNumber id`, event by event, beginning with 32 zero bytes. Hexadecimal digits.',
        ),
      }),
    ),
    { description: 'The feeds as they were.' },
  ),
  counts: ownedCounts,
  begunAt: moment('When it was closed.'),
  deletedAt: time('When the last of it was deleted, and its name became free.'),
}

export const deletions = {
  Deletion: Type.Object(deletion, { title: 'Deletion' }),
  Deletions: listed('Deletions', Type.Object(deletion)),
  DeletionPlan: Type.Object(
    {
      dryRun: Type.Literal(true, { description: 'Nothing was changed.' }),
      tenantId: uuid('The tenant.'),
      feeds: Type.Array(part('OwnedFeed', Type.Object(deletedFeed)), { description: 'Its feeds.' }),
      counts: ownedCounts,
      refusedBecause: textOrNull('Why it cannot be deleted now; null: it can.'),
    },
    { title: 'DeletionPlan' },
  ),
}
