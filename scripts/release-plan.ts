/** What a release changes in the sources: versions and the changelog. Texts in, texts out. */

export type ReleasePlan =
  /** New texts by path. */
  | { readonly kind: 'plan'; readonly files: Readonly<Record<string, string>>; readonly notes: string }
  /** Sentences that say what to do first. */
  | { readonly kind: 'faults'; readonly faults: readonly string[] }

const manifests = [
  'package.json',
  ...['cli', 'client', 'demo', 'protocol', 'server', 'tables'].map((name) => `packages/${name}/package.json`),
]

/** Every file that a release changes. */
export const releasedFiles: readonly string[] = [...manifests, 'package-lock.json', 'CHANGELOG.md']

/** `day`: as the changelog names it, `YYYY-MM-DD`. */
export function planRelease(version: string, day: string, read: (path: string) => string): ReleasePlan {
  const current = versionIn(read('package.json'))
  const changelog = read('CHANGELOG.md')
  const unreleased = sectionOf(changelog, 'Unreleased')
  const faults = [
    ...versionFaults(version, current),
    ...manifests.flatMap((path) => {
      const found = versionIn(read(path))
      return found === current
        ? []
        : [`${path} has version ${found}, and package.json has ${current}. Make them one.`]
    }),
    ...(unreleased === undefined || !/^- /m.test(unreleased)
      ? ['CHANGELOG.md says nothing under "## Unreleased". Write there what a user notices.']
      : []),
    ...(sectionOf(changelog, version) === undefined
      ? []
      : [`CHANGELOG.md has a section ${version} already.`]),
  ]
  if (faults.length > 0 || unreleased === undefined) return { kind: 'faults', faults }
  const heading = `## Unreleased\n\nNothing yet.\n\n## ${version} (${day})\n`
  const files: Record<string, string> = { 'CHANGELOG.md': changelog.replace('## Unreleased\n', heading) }
  for (const path of manifests) files[path] = withVersion(read(path), current, version)
  files['package-lock.json'] = withLockedVersion(read('package-lock.json'), current, version)
  return { kind: 'plan', files, notes: unreleased.trim() }
}

function versionFaults(version: string, current: string): readonly string[] {
  const [wanted, held] = [numbersOf(version), numbersOf(current)]
  if (wanted === undefined || held === undefined) {
    return [`"${version}" is no version. Write three numbers, such as 1.2.3.`]
  }
  // 0.1.0 stands in the sources before anything was released, and may be the first release.
  const rises = wanted.map((number, index) => number - (held[index] ?? 0)).find((step) => step !== 0) ?? 0
  return rises < 0 ? [`${version} is lower than ${current}, the version of the sources.`] : []
}

function numbersOf(version: string): readonly number[] | undefined {
  return /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/.exec(version)?.slice(1).map(Number)
}

/** The text between the section's heading and the next one. */
function sectionOf(changelog: string, name: string): string | undefined {
  const parts = changelog.split(/^## /m).slice(1)
  const section = parts.find((part) => part.startsWith(`${name}\n`) || part.startsWith(`${name} (`))
  return section?.slice(section.indexOf('\n') + 1)
}

function versionIn(manifest: string): string {
  const value: unknown = JSON.parse(manifest)
  return typeof value === 'object' && value !== null && 'version' in value ? String(value.version) : ''
}

/** The package's own version, and those of our packages that it depends on. */
function withVersion(manifest: string, current: string, version: string): string {
  const own = new RegExp(`("(?:version|@property-events/[a-z]+)": ")${escaped(current)}"`, 'g')
  return manifest.replaceAll(own, `$1${version}"`)
}

/** Of the packages of others none is touched: a version of theirs may be the same. */
function withLockedVersion(lock: string, current: string, version: string): string {
  const value: unknown = JSON.parse(lock)
  if (typeof value !== 'object' || value === null || !('packages' in value)) return lock
  const packages = Object.entries(Object(value.packages)).map(([path, entry]) => {
    const isOurs = path === '' || path.startsWith('packages/')
    return [
      path,
      isOurs ? JSON.parse(withVersion(JSON.stringify(entry, null, 1), current, version)) : entry,
    ] as const
  })
  return `${JSON.stringify({ ...value, version, packages: Object.fromEntries(packages) }, null, 2)}\n`
}

function escaped(text: string): string {
  return text.replaceAll('.', String.raw`\.`)
}
