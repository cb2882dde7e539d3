/** Whether a node sends webhooks, and to whom: part of the settings of `serve`. */
import type { WebhookOptions } from '@property-events/server'
import { allowedNetworks, isNetwork } from '@property-events/server/plain'
import type { SettingReader } from './setting.ts'
import { onOff, oneOf, text } from './setting.ts'

const networks = text<readonly string[], readonly string[]>(
  {
    name: 'webhook-allow-networks',
    argument: 'networks',
    description: 'networks beside the public Internet that webhooks may be sent to, with commas between them',
    fallbackWords: 'none',
    expected: 'addresses or networks such as 10.20.0.0/16 or fd12::/16, with commas between them',
  },
  [],
  readNetworks,
)

export const webhookSettings = {
  webhooks: oneOf(
    { name: 'webhooks', description: 'send webhooks; off: endpoints keep their place and wait' },
    ['on', 'off'],
    'on',
  ),
  webhookAllowHttp: onOff({
    name: 'webhook-allow-http',
    description: 'webhooks may be sent without TLS, readable on the way; a demo of your own allows it',
  }),
  webhookAllowNetworks: networks,
  webhookAnswers: oneOf(
    {
      name: 'webhook-answers',
      description:
        'whose answers to webhooks tenants are shown: of receivers at public addresses, of all, of none',
    },
    ['public', 'all', 'none'],
    'public',
  ),
} as const

function readNetworks(written: string): readonly string[] | undefined {
  const found = written.split(',').map((network) => network.trim())
  return found.every(isNetwork) ? [...new Set(found)] : undefined
}

const loopback = ['127.0.0.0/8', '::1'] as const

/** Whoever tries a demo has the receiver on the same machine. One that others reach posts to nothing that only its machine reaches. */
const ownMachine = {
  webhookAllowHttp: { ...webhookSettings.webhookAllowHttp, fallback: true, fallbackWords: 'on' },
  webhookAllowNetworks: { ...networks, fallback: loopback, fallbackWords: undefined },
  webhookAnswers: { ...webhookSettings.webhookAnswers, fallback: 'all' },
} as const

/** As they apply to a service that listens on `host`. */
export function webhookSettingsAt(host: string, isDemo: boolean): typeof webhookSettings {
  const isOwn = host === 'localhost' || allowedNetworks(loopback).has(host)
  return isDemo && isOwn ? { ...webhookSettings, ...ownMachine } : webhookSettings
}

export function readWebhooks(reader: SettingReader, host: string, isDemo: boolean): WebhookOptions | 'off' {
  const here = webhookSettingsAt(host, isDemo)
  const options = {
    allowHttp: reader.value(here.webhookAllowHttp),
    networks: reader.value(here.webhookAllowNetworks),
    answers: reader.value(here.webhookAnswers),
  }
  return reader.value(here.webhooks) === 'off' ? 'off' : options
}
