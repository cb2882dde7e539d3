/** Duties by law on the command line: in what `publish` and its dry run say, in `publications`, and counted (PROTOCOL §4.11, §4.13). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, it } from 'node:test'
import type { DutyReport } from '@property-events/client'
import { property } from '../../../server/test/support/property.ts'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant } from '../support/make-tenant.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'

const folder = temporaryFolder()
after(() => removeFolder(folder))

/** Both sides of a border: in England and in Scotland. */
const letting = (fields: object) =>
  property({
    price_information: {
      price: 1200,
      rent_frequency: 12,
      price_qualifier: 10,
      price_qualifier_string: '£1,200–£1,300 pcm',
    },
    details: { summary: 'Tŷ â gardd – £1,200 y mis 🏡. No DSS.' },
    ...fields,
  })
const lawful = { price: 1200, rent_frequency: 12 }

it('are said by publish and its dry run, kept in publications, counted by `properties duties`, and fall when mended', async () => {
  const data = join(folder, 'data')
  const service = await start(['serve', '--data', data])
  const { keys } = await makeTenant({ data }, 'Gwynedd Homes', { publish: ['publish'] })
  const at = ['--url', service.line.url, '--key', keys.publish.key]
  const [english, scottish] = [randomUUID(), randomUUID()]
  const file = join(folder, 'events.ndjson')
  const write = (...payloads: readonly object[]) =>
    writeFileSync(
      file,
      payloads.map((payload) => `${JSON.stringify({ payload, category: 'lettings' })}\n`).join(''),
    )
  const scotland = letting({ agent_ref: scottish, address: { postcode_1: 'EH1', postcode_2: '1AA' } })
  write(letting({ agent_ref: english }), scotland)
  for (const further of [['--dry-run'], []]) {
    const published = await run(['publish', file, ...further, ...at])
    const said = `${published.stdout}${published.stderr}`
    assert.equal(published.code, 0, said)
    assert.match(said, /rent_not_specific/)
    assert.match(said, /tenant_excluded/)
    assert.match(said, /material_information/)
  }
  const counts = async () => {
    const { properties, duties } = await runJson<DutyReport>(['properties', 'duties', ...at])
    return { properties, ...Object.fromEntries(duties.map(({ code, refs }) => [code, refs])) }
  }
  assert.deepEqual(await counts(), {
    properties: 2,
    rent_not_specific: [english],
    rent_period_too_long: [],
    fixed_term_advertised: [],
    tenant_excluded: [english],
    material_information: [english, scottish],
  })
  const { stdout } = await run(['properties', 'duties', ...at])
  assert.match(stdout, /^Of 2 properties shown now, these do not fit a duty by law:$/m)
  assert.match(stdout, new RegExp(`^1  tenant_excluded: .*Renters' Rights Act 2025.*\\n  ${english}$`, 'm'))
  write(
    letting({
      agent_ref: english,
      price_information: lawful,
      details: { summary: 'Tŷ â gardd. DSS considered.' },
    }),
  )
  assert.equal((await run(['publish', file, ...at])).code, 0)
  const { rent_not_specific: over, tenant_excluded: excluded } = {
    rent_not_specific: null,
    tenant_excluded: null,
    ...(await counts()),
  }
  assert.deepEqual([over, excluded], [[], []])
  await run(['tenants', 'duties', 'Gwynedd Homes', 'off', '--data', data])
  await until(
    async () => (await run(['properties', 'duties', ...at])).stdout.startsWith('The operator has switched'),
    { what: 'off' },
  )
  await service.stop()
  const kept = await run(['publications', '--tenant', 'Gwynedd Homes', '--data', data])
  assert.match(kept.stdout, /rent_not_specific/)
})
