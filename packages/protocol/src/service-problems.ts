/** Problems of the service rather than of the request: a part of `problems`. */

/** The words of a problem. */
export interface ProblemKind {
  readonly status: number
  readonly title: string
  /** Used when the refusing code has nothing more exact to say. */
  readonly detail: string
  /** The same request succeeds only once an operator has acted; of the other problems of the service, when one waits. */
  readonly again?: 'operator'
}

export const serviceProblems = {
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail: 'The service failed. The operator can find the cause in the log under the request id.',
  },
  storage_damaged: {
    status: 500,
    title: 'Stored data is damaged',
    detail:
      'What the store holds here is not what was written to it, so it is not served. The operator can find the place in the log under the request id.',
    again: 'operator',
  },
  storage_full: {
    status: 503,
    title: 'Storage full',
    detail: 'The store is full; nothing was stored. Reading still works. Try again later.',
  },
  storage_unavailable: {
    status: 503,
    title: 'Storage unavailable',
    detail:
      'The store is not responding. Try again later. What was being published may have been stored, so send it again with the same ids.',
  },
  clock_behind: {
    status: 503,
    title: 'Clock behind the feed',
    detail:
      'The newest event of this feed is more than 5 minutes ahead of the clock, so publishing waits for the clock. The operator can override this.',
    again: 'operator',
  },
  overloaded: {
    status: 503,
    title: 'Service overloaded',
    detail: 'Too many events are waiting to be written to disk; nothing was stored. Try again later.',
  },
  epoch_required: {
    status: 503,
    title: 'New epoch required',
    detail: 'The store was restored from a backup. Publishing waits until the operator starts a new epoch.',
    again: 'operator',
  },
  tenant_moving: {
    status: 503,
    title: 'Tenant is being moved',
    detail:
      'This tenant is being moved to another store. Until that is done, nothing can be published to it, and no list can be read whose window of time is still open. Nothing was stored. Try again in a moment, at the same address.',
  },
  maintenance: {
    status: 503,
    title: 'Publishing paused',
    detail:
      'The operator has paused publishing for planned work; reading still works. Nothing was stored. Wait for the time in Retry-After, then send the same request again.',
  },
  view_being_made: {
    status: 503,
    title: 'Branch view being prepared',
    detail:
      'This key reads certain branches only, and the view of them is being prepared, which happens once. Try again after the time in Retry-After.',
  },
  sequence_not_reached: {
    status: 503,
    title: 'Sequence number not reached yet',
    detail: 'The feed has not reached the number in x-feed-min-sequence within 5 seconds. Try again.',
  },
  unsupported_http_version: {
    status: 505,
    title: 'Unsupported HTTP version',
    detail: 'Use HTTP/1.1; 1.0 is answered too. A proxy in front of this service must speak one of them.',
  },
} as const satisfies Readonly<Record<string, ProblemKind>>

/** Problems that only the console has (PROTOCOL §15): a part of `problems`. */
export const consoleProblems = {
  console_session_ended: {
    status: 401,
    title: 'Not signed in',
    detail:
      'There is no console session, or it has ended: a session ends after 12 hours, after an hour without a request, or with its key. Sign in again.',
  },
  login_link_spent: {
    status: 401,
    title: 'Sign-in link expired or already used',
    detail:
      'A sign-in link works once, within 10 minutes. For a fresh link, run `property-events console` where the service runs.',
  },
  console_foreign_request: {
    status: 403,
    title: 'Request from another site',
    detail:
      'Only the console’s own page can use a session. Other programs send a key in the x-api-key header.',
  },
  console_needs_https: {
    status: 403,
    title: 'HTTPS required',
    detail:
      'Over http, anybody on the way could read the session. Use https, or http on the machine itself (127.0.0.1). Where a proxy in front has https, tell the service: serve --url https://…, or --trusted-proxies and X-Forwarded-Proto.',
  },
  console_needs_fresh_sign_in: {
    status: 403,
    title: 'Recent sign-in required',
    detail:
      'Reading a contact in full, erasing, and making operator keys need a sign-in within the last 5 minutes. Sign in again, with the key or a fresh link.',
  },
} as const satisfies Readonly<Record<string, ProblemKind>>
