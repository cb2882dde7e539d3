import { freed } from '../webhooks/endpoint-rows.ts'

const freeLeases = `UPDATE webhook SET ${freed} WHERE lease_node IS NOT NULL`

/**
 * What a store knows of where it is served, and not of what it holds. A restored store has these rows of the first place, and where an
 * operator begins a new epoch in it they go. The tables are the same on both databases.
 */
export function removeSiteRows(isCopy: boolean): readonly string[] {
  return [
    // Whoever has signed out since would be signed in again.
    'DELETE FROM console_session',
    'DELETE FROM login_link',
    // An erasure would wait for them. Elsewhere they may live, and an erasure has to wait for them.
    ...(isCopy ? ['DELETE FROM node', 'DELETE FROM webhook_sender', freeLeases] : []),
  ]
}
