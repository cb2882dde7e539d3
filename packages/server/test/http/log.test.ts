/** What the log says of a request, and what it never says. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call, listPath, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact } from '../support/property.ts'
import { collect, head, open, speak } from '../support/raw-socket.ts'

onEngines(
  'the log',
  { limits: { headersTimeoutMs: 400, requestTimeoutMs: 600, timeoutCheckMs: 100 } },
  (service) => {
    /** The lines that a request leaves, read. */
    async function linesOf(request: () => Promise<unknown>): Promise<readonly Record<string, unknown>[]> {
      const { logLines } = service()
      const before = logLines.length
      await request()
      for (let tries = 0; tries < 100 && logLines.length === before; tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 10))
      return logLines.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>)
    }

    it('names no contact: the route replaces the path of one (D18, PROTOCOL §10.2)', async () => {
      const reference = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
      await publish(service(), { payload: contact({ contact_ref: reference }) }, { feed: 'contact' })
      const key = service().tenant.readKey
      for (const [path, status, logged] of [
        [reference, 200, '/v1/contacts/:subjectId'],
        [`${reference}/history`, 200, '/v1/contacts/:subjectId/history'],
        ['jane.doe@example.com', 400, '/v1/contacts/:subjectId'],
        ['jane.doe@example.com/history', 400, '/v1/contacts/:subjectId/history'],
        ['jane.doe@example.com/hisory', 404, '/v1/contacts/hidden'],
        [`${reference}/`, 404, '/v1/contacts/hidden'],
      ] as const) {
        const lines = await linesOf(async () => {
          const answer = await call(service(), `/v1/contacts/${path}`, { key })
          assert.equal(answer.status, status)
        })
        assert.deepEqual(
          lines.map((line) => line['path']),
          [logged],
        )
      }
      assert.doesNotMatch(service().logLines.join(''), new RegExp(`${reference}|jane`))
    })

    it('names no contact in a path that matches nothing, however it is spelt (D18, PROTOCOL §10.2)', async () => {
      const key = service().tenant.readKey
      for (const path of [
        '/V1/Contacts/jane.doe@example.com',
        '/v1/contact/jane.doe@example.com',
        '/v1/contact%73/jane.doe',
        '/v1/%63ontacts/jane.doe/x',
        '/v1/contacts%2fjane.doe/x',
        '/v1/contacts%252fjane.doe',
        '/v1//contacts//jane.doe',
        '/v1\\contacts\\jane.doe',
        '/v1/contcats/jane.doe',
        '/v1/contacts;jane.doe',
        '/v1/contact-events/jane.doe',
        '/v1/contacts/%zz/jane.doe',
        '/v1/expiring-contacts/jane.doe/keep',
        '/v1/expiring-contacts/jane.doe/keeep',
        '/v1/expiring-contact/jane.doe',
        '/v1/expirin-contacts/jane.doe/keep',
        '/api/func/api/v1/contactevents/geteventbyid/jane.doe',
        '/api/func/api/v1/contactevents/geteventbyid/x/jane.doe',
        'http://jane@host/v1/Contact%73/jane.doe/x',
      ]) {
        for (const method of ['GET', 'PUT']) {
          const lines = await linesOf(() => call(service(), path, { key, method }))
          assert.equal(lines.length, 1, path)
          assert.doesNotMatch(JSON.stringify(lines), /jane/, path)
        }
      }
      for (const path of ['/v1/contact-event', '/.env', '/v1/contact']) {
        const lines = await linesOf(() => call(service(), path, { key }))
        assert.equal(lines[0]?.['path'], path.replace('contact-event', 'contacts/hidden'), path)
      }
    })

    it('names no contact that is kept (D18, PROTOCOL §10.2)', async () => {
      const key = service().tenant.eraseKey
      for (const reference of ['jane.doe', crypto.randomUUID()]) {
        const path = `/v1/expiring-contacts/${reference}/keep`
        const lines = await linesOf(() => call(service(), path, { key, method: 'POST' }))
        assert.equal(lines[0]?.['path'], '/v1/expiring-contacts/:contactRef/keep')
        assert.doesNotMatch(JSON.stringify(lines), new RegExp(reference))
      }
    })

    it('is not the only place: no error repeats what identifies a contact (D18, PROTOCOL §10.2)', async () => {
      for (const path of ['jane.doe@example.com', 'jane.doe@example.com/history']) {
        const answer = await call(service(), `/v1/contacts/${path}`, { key: service().tenant.readKey })
        const { errors } = problemOf(answer)
        assert.equal(errors?.[0]?.code, 'not_a_uuid')
        assert.doesNotMatch(JSON.stringify(errors), /jane/)
      }
    })

    it('has only the path of an absolute target, not the user and password in it (D11)', async () => {
      const key = `x-api-key: ${service().tenant.readKey}`
      for (const [target, logged] of [
        [`http://user:secret@host${listPath}`, listPath],
        [`HTTP://user:secret@host`, '/'],
        [`ftp://user:secret@host/x`, '/-'],
      ]) {
        const request = head(`GET ${target} HTTP/1.1`, key, 'Connection: close')
        const lines = await linesOf(() => speak(service().port, request))
        assert.equal(lines[0]?.['path'], logged)
        assert.doesNotMatch(JSON.stringify(lines), /secret/)
      }
    })

    it('has the path and the caller’s id of a request whose body came too slowly, as its answer has (D6, D20)', async () => {
      for (const target of ['/v1/property-events?dryRun=true', 'http://a/v1/property-events']) {
        const socket = await open(service().port)
        const lines = await linesOf(async () => {
          socket.write(
            head(
              `POST ${target} HTTP/1.1`,
              `x-api-key: ${service().tenant.publishKey}`,
              'Content-Type: application/json',
              'Content-Length: 100',
              'x-request-id: slow-one',
            ),
          )
          const answer = await collect(socket, { waitMs: 4_000 })
          assert.equal(answer.status, 408)
          assert.match(answer.text, /^x-request-id: slow-one\r$/im)
          const problem = problemOf({ text: answer.text.slice(answer.text.indexOf('\r\n\r\n') + 4) })
          assert.equal(problem.instance, '/v1/property-events')
          assert.equal(problem.requestId, 'slow-one')
        })
        const line = lines.find(({ problem }) => problem === 'request_timeout')
        assert.equal(line?.['requestId'], 'slow-one')
        assert.equal(line?.['method'], 'POST')
        assert.equal(line?.['path'], '/v1/property-events')
      }
    })
  },
)
