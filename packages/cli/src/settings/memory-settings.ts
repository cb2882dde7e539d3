/** How much the clients of a node may make it hold at once: part of the settings of `serve`. */
import { duration, wholeNumber } from './setting.ts'

export const memorySettings = {
  inFlightBytes: wholeNumber(
    {
      name: 'in-flight-bytes',
      description:
        'bodies being received and answers not yet read that are held at once; more is refused with 503',
    },
    { from: 128 * 2 ** 20, to: 2 ** 40 },
    256 * 2 ** 20,
  ),
  inFlightBytesPerKey: wholeNumber(
    { name: 'in-flight-bytes-per-key', description: 'the share of those bytes that one key may use' },
    { from: 64 * 2 ** 20, to: 2 ** 40 },
    64 * 2 ** 20,
  ),
  maxConnections: wholeNumber(
    {
      name: 'max-connections',
      description: 'connections that may be open at once; fewer where the system allows fewer open files',
    },
    { from: 1, to: 1_000_000 },
    20_000,
  ),
  readerTimeout: duration(
    {
      name: 'reader-timeout',
      description: 'how long a client may read nothing of its answer before its connection is closed',
      fallbackWords: '30s',
    },
    30_000,
  ),
} as const
