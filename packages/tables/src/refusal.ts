/** Why the tables cannot be used: whole sentences that say what to do, for whoever runs the sync. */
export class TablesRefusal extends Error {
  override readonly name = 'TablesRefusal'
}

/** The database cannot be reached, or is too busy; it may be back in a moment. */
export class TablesAway extends TablesRefusal {}
