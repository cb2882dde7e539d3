/** Problems that only the console has (PROTOCOL §15): a part of `problems`. */
import type { ProblemKind } from './service-problems.ts'

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
