/** The running Node, where it comes from, and whether it is the one that was published. */
import { realpathSync } from 'node:fs'
import { faultOfCarried, findCarried } from '../../carried-node/index.mjs'
import type { CarriedNode, KnownNode } from '../../carried-node/index.mjs'
import { fail, ok } from './finding.ts'
import type { Finding } from './finding.ts'

const oldestMajor = 24

interface RunningNode {
  /** Such as `26.10.0`. */
  readonly version: string
  readonly path: string
  readonly carried: CarriedNode | undefined
}

export function thisNode(): RunningNode {
  return { version: process.versions.node, path: process.execPath, carried: findCarried() }
}

/** Reads the whole program of a carried Node, even if it has been read before, unless `again` is false. */
export function checkNode(
  { version, path, carried }: RunningNode,
  { again }: { readonly again: boolean } = { again: true },
): Finding {
  if (Number.parseInt(version, 10) < oldestMajor) {
    const remedy = `Install Node ${oldestMajor} or newer from https://nodejs.org.`
    return fail('node', `v${version} at ${path} is too old`, remedy)
  }
  if (carried === undefined || realpathSync(carried.path) !== realpathSync(path)) {
    return ok('node', `v${version} at ${path}, from this machine: its checksum is not verified`)
  }
  const fault = faultOfCarried(carried, { again })
  if (fault !== undefined) return fail('node', fault.detail, fault.remedy)
  return ok(
    'node',
    `v${version} at ${path}, from ${carried.known.package} ${carried.version}: ${provenances[carried.known.compared](carried.known.published.file)}`,
  )
}

const provenances = {
  here: (file) => `SHA-256 matches the checksum of ${file} published by nodejs.org`,
  elsewhere: (file) =>
    `SHA-256 matches the published checksum of ${file}, as others have it from nodejs.org (docs/supply-chain.md)`,
  nowhere: (file) =>
    `SHA-256 matches the package, which nobody has compared with ${file} of nodejs.org (docs/supply-chain.md)`,
} as const satisfies Record<KnownNode['compared'], (file: string) => string>
