/** A proxy that the service was not told of is noticed, and no stranger can have that said. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call, listPath } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

onTransports('a proxy that is not trusted', (transport) => {
  const warnings = ({ logLines }: TestService) =>
    logLines.filter((line) => line.includes('--trusted-proxies'))
  const ask = (service: TestService, key: string, headers: Readonly<Record<string, string>>) =>
    call(service, listPath, { key, headers })

  for (const headers of [{ 'x-forwarded-for': '192.0.2.1' }, { forwarded: 'for=192.0.2.1' }]) {
    it(`is reported once in the log, with the flag, when it sends ${Object.keys(headers).join()} (D10)`, async () => {
      const service = await startTestService(transport)
      try {
        const { readKey } = service.tenant
        assert.equal((await ask(service, 'pev_guess', headers)).status, 401)
        assert.equal((await ask(service, readKey, {})).status, 200)
        assert.deepEqual(warnings(service), [])
        for (const key of [
          service.otherTenant.readKey,
          service.tenant.publishKey,
          service.otherTenant.publishKey,
        ]) {
          await ask(service, key, headers)
        }
        assert.equal(warnings(service).length, 1)
        assert.doesNotMatch(warnings(service).join(), /192\.0\.2/)
      } finally {
        await service.stop()
      }
    })
  }

  it('is not reported if one is trusted (D10)', async () => {
    const service = await startTestService({ ...transport, trustedProxies: 1 })
    try {
      await ask(service, service.tenant.readKey, { 'x-forwarded-for': '192.0.2.1' })
      assert.deepEqual(warnings(service), [])
    } finally {
      await service.stop()
    }
  })
})
