/** What an endpoint of webhooks may be set to, and the words that are said of it (PROTOCOL §16). */

export const webhookSubjects = ['feed', 'operations'] as const
export const webhookPayloads = ['full', 'thin'] as const
export const webhookModes = ['every', 'latest'] as const
export const webhookFormats = ['event', 'cloudevents'] as const
export const webhookStates = ['enabled', 'paused', 'disabled'] as const
/** Why an endpoint is not enabled. */
export const webhookReasons = ['asked', 'copied', 'operator', 'key_revoked', 'failing', 'gone'] as const

/** What became of a try. */
export const webhookOutcomes = ['acknowledged', 'refused', 'unreachable', 'postponed', 'givenUp'] as const

/** The numbers that may be set: the smallest, the greatest and the usual one. `maxPerSecond` has no usual one: there is no limit. */
export const webhookNumbers = {
  concurrency: { least: 1, most: 16, usual: 4 },
  maxPerSecond: { least: 1, most: 1_000, usual: undefined },
  timeoutSeconds: { least: 1, most: 30, usual: 15 },
  overlapSeconds: { least: 0, most: 604_800, usual: 86_400 },
} as const

/** Of an address and of a label, in characters. */
export const maxWebhookUrlLength = 2_048
export const maxWebhookLabelLength = 200
