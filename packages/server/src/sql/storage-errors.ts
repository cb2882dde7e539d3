/** The port's part for failures: a store that fails, and one that cannot be opened. */

/** The only error that engines throw. `code` decides what the caller sees; `cause` is for the log. */
export class StorageFailure extends Error {
  /**
   * `storage_damaged`: bytes of the store have changed since they were written; reading them again does not help. `view_being_made`: the
   * store is fine, but the requested view of branches is not ready yet. `tenant_moving`: the store is fine, but the tenant is at home in
   * another one (`MoveState`). `reads_waiting`: the store is fine, but it has more to read than it can in time.
   */
  readonly code:
    | 'storage_full'
    | 'storage_unavailable'
    | 'storage_damaged'
    | 'storage_closed'
    | 'reads_waiting'
    | 'feed_locked'
    | 'tenant_moving'
    | 'view_being_made'
  /**
   * `batches`: the store works and has stored none of the batches, because it could not store all of them: without the faulty batch, the
   * others may succeed.
   */
  readonly scope: 'store' | 'batches'
  constructor(code: StorageFailure['code'], cause?: unknown, scope: StorageFailure['scope'] = 'store') {
    super(code, { cause })
    this.name = 'StorageFailure'
    this.code = code
    this.scope = scope
  }
}

/** A store that cannot be opened, or copied, as requested. `message` is a sentence for the operator that says what to do. */
export class StorageRefusal extends Error {
  readonly code:
    | 'newer_schema'
    | 'made_before'
    | 'other_catalogue'
    | 'other_start_sequence'
    | 'not_a_store'
    | 'in_use'
    | 'old_server'
    | 'not_permitted'
    | 'already_exists'
  constructor(code: StorageRefusal['code'], message: string) {
    super(message)
    this.name = 'StorageRefusal'
    this.code = code
  }
}

/** No step leads from a store of the time before the first release to one of now. `empty`: what a new one can be made in. */
export function madeBefore(place: string, empty: string): StorageRefusal {
  return new StorageRefusal(
    'made_before',
    `The store in ${place} was made before 0.1.0; begin a new one. Name an empty ${empty} for it, or remove the old store.`,
  )
}

/** The code of an error of any class: an error from another thread has lost its class. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
