/** The files of deploy/ are what they say: units that never give up, proxies that the program's own checks accept, roles with the least rights. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { freePorts } from '../../../server/test/support/free-ports.ts'
import { call, listPath, publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import { until } from '../../../server/test/support/until.ts'
import { adaptedNginx, needsNginx, nginx } from '../../../server/test/support/nginx.ts'
import { signCertificate } from '../support/certificate.ts'
import { root, documents, blocksIn, textOf } from '../support/documents.ts'
import { readUnit, wordsOf } from '../support/guide/unit-file.ts'
import { removeFolder, temporaryFolder } from '../support/program.ts'

const folder = temporaryFolder()
after(() => removeFolder(folder))
const deploy = join(root, 'deploy')
const units = globSync('systemd/*', { cwd: deploy }).map((name) => join(deploy, name))
const services = units.filter((path) => path.endsWith('.service'))
const needsSystemd =
  spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'systemd-analyze is not installed'
const needsCaddy = spawnSync('caddy', ['version']).status === 0 ? false : 'caddy is not installed'

/** The units that stand in documents count as well: people copy them. */
function unitsInDocuments(): readonly string[] {
  const blocks = documents.flatMap((document) => blocksIn(document, textOf(document)))
  return blocks
    .filter(({ language, text }) => language === 'ini' && text.includes('[Unit]'))
    .map(({ text }, index) => {
      const path = join(folder, `document-${index}.service`)
      writeFileSync(path, text)
      return path
    })
}

describe('the units for systemd', () => {
  it('that serve never give up, wait for the network, and pause before they try again', () => {
    const serving = [...services, ...unitsInDocuments()].filter((path) =>
      / serve$/m.test(readFileSync(path, 'utf8')),
    )
    assert.ok(serving.length >= 2)
    for (const path of serving) {
      const unit = readUnit(path)
      // After five failures within ten seconds systemd would start it no more.
      assert.equal(unit.last('Unit', 'StartLimitIntervalSec'), '0', path)
      for (const key of ['Wants', 'After'])
        assert.equal(unit.last('Unit', key), 'network-online.target', path)
      assert.match(unit.last('Service', 'Restart') ?? '', /^(on-failure|always)$/, path)
      assert.ok(Number(unit.last('Service', 'RestartSec')) >= 1, path)
      // The drain, the requests under way and the longest commit come first.
      assert.ok(Number(unit.last('Service', 'TimeoutStopSec')) >= 50, path)
    }
  })

  it('hold no secret, and hand over those that there are as files (D11)', () => {
    for (const path of services) {
      for (const line of readUnit(path).all('Service', 'Environment'))
        assert.doesNotMatch(line, /_(KEY|PEPPER|DATABASE)=|postgres:/, path)
    }
  })

  it('start programs that exist in the clone', () => {
    for (const path of services) {
      const line = readUnit(path).last('Service', 'ExecStart') ?? ''
      const words = wordsOf(line).flatMap((word) => word.match(/\/opt\/property-events\/[\w./-]+/g) ?? [])
      assert.equal(words.length, 2, line)
      for (const word of words) assert.ok(existsSync(word.replace('/opt/property-events', root)), word)
    }
  })

  it('are units that systemd accepts', { skip: needsSystemd }, () => {
    const place = join(folder, 'units')
    mkdirSync(place)
    const names = units.map((path) => {
      const name = basename(path).replace('@.', '@8081.')
      // Where there is no clone in /opt, and no network that systemd has brought up.
      const text = readFileSync(path, 'utf8').replaceAll('/opt/property-events', root)
      writeFileSync(join(place, name), text.replace(/^User=.*$/m, `User=${process.getuid?.() ?? 0}`))
      return join(place, name)
    })
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...names], {
      encoding: 'utf8',
    })
    assert.equal(stderr, '')
    assert.equal(status, 0)
  })

  it('are sandboxed, as systemd measures it', { skip: needsSystemd }, () => {
    for (const path of services) {
      const file = join(folder, basename(path).replace('@.', '@8081.'))
      writeFileSync(file, readFileSync(path))
      // 100 is a service without a sandbox.
      const args = ['security', '--no-pager', '--offline=true', '--threshold=80', file]
      const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
      assert.equal(status, 0, stdout)
    }
  })

  it('are those that the guide enables, starts and restarts', () => {
    const names = new Set(units.map((path) => basename(path, '.service')))
    const used = documents.flatMap((document) =>
      [...textOf(document).matchAll(/^ *systemctl (?:[a-z-]+ )+(?:--now )?(property-events.*)$/gm)].flatMap(
        ([, said = '']) => said.split(' '),
      ),
    )
    assert.ok(used.length >= 8)
    for (const unit of used) assert.ok(names.has(unit.replace(/\.service$/, '').replace(/@.*$/, '@')), unit)
  })
})

describe('the proxies', () => {
  const options = { skip: needsCaddy }
  it('nginx asks a node that has just refused a connection again, instead of leaving out both', () => {
    const file = readFileSync(join(deploy, 'nginx/property-events.conf'), 'utf8')
    const [, nodes = ''] = /^upstream property_events \{\n([^}]*)\}/m.exec(file) ?? []
    const servers = [...nodes.matchAll(/^ *server (.+);$/gm)].map(([, words = '']) => words.split(' '))
    assert.ok(servers.length >= 2)
    for (const words of servers) assert.ok(words.includes('max_fails=0'), words.join(' '))
  })

  it('nginx accepts the file unchanged, with TLS', { skip: needsNginx }, () => {
    const place = join(folder, 'nginx')
    mkdirSync(place)
    const { certificate, key } = signCertificate(place, 'feed.example.com')
    const adapted = adaptedNginx([
      [/\/etc\/property-events\/tls\/fullchain\.pem/, certificate],
      [/\/etc\/property-events\/tls\/privkey\.pem/, key],
      [/\/var\/log\/nginx\/property-events\.log/, join(place, 'access.log')],
    ])
    const path = join(place, 'nginx.conf')
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${place}/${kind};`,
    )
    writeFileSync(path, `pid ${place}/pid; events {} http { ${folders.join(' ')}\n${adapted}\n}\n`)
    const { status, stderr } = spawnSync(nginx ?? '', ['-t', '-c', path, '-e', join(place, 'error.log')], {
      encoding: 'utf8',
    })
    // Who is not root may not listen on port 80, which `-t` tries.
    if (process.getuid?.() === 0) assert.equal(status, 0, stderr)
    assert.match(stderr, /syntax is ok/)
    assert.doesNotMatch(stderr, /\[warn\](?!.*user)/)
  })

  it('Caddy accepts the file unchanged', options, () => {
    const file = join(deploy, 'caddy/Caddyfile')
    const { status, stderr } = spawnSync('caddy', ['validate', '--adapter', 'caddyfile', '--config', file], {
      encoding: 'utf8',
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    })
    assert.equal(status, 0, stderr)
    assert.doesNotMatch(stderr, /not formatted/)
  })

  it('Caddy sends what comes to the node that is ready, and none to one that is not', options, async () => {
    const service = await startTestService({ trustedProxies: 1 })
    const [port = 0, admin = 0] = await freePorts(2)
    const file = join(folder, 'Caddyfile')
    const text = readFileSync(join(deploy, 'caddy/Caddyfile'), 'utf8')
    const metricsPort = new URL(service.service.metricsUrl ?? '').port
    const replaced = `{\n\tadmin 127.0.0.1:${admin}\n}\n${text}`
      .replace('10.0.0.1:8080 10.0.0.2:8080', `127.0.0.1:${service.port} 127.0.0.2:${service.port}`)
      .replace('health_port 9464', `health_port ${metricsPort}`)
      .replace('feed.example.com {', `http://127.0.0.1:${port} {`)
    writeFileSync(file, replaced)
    const caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', file], {
      stdio: 'ignore',
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    })
    try {
      const through = { ...service, port }
      const isTaken = () =>
        publish(through, { payload: property() }).then(
          () => true,
          () => false,
        )
      // At first it takes both for ready.
      const allAreTaken = async () => {
        for (let n = 1; n <= 10; n += 1) if (!(await isTaken())) return false
        return true
      }
      await until(allAreTaken, { what: 'ten publications through Caddy', timeoutMs: 60_000 })
      const answer = await call(through, listPath, { key: service.tenant.readKey })
      assert.equal(answer.status, 200, answer.text)
    } finally {
      caddy.kill('SIGTERM')
      await service.stop()
    }
  })
})
