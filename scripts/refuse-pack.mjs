/**
 * Before `npm pack` and `npm publish` in a folder of the sources: refuses, since what is published is built from several of them.
 * Plain JavaScript for any Node from 20.
 */

// Before `npm run pack` npm runs it as well.
if (process.env.npm_command === 'pack' || process.env.npm_command === 'publish') {
  process.stderr.write(
    'These are sources, and what is published is built from them. In the folder of the whole project, run ' +
      'npm run pack -- ../packages: it writes the archives of the client and of the program; npm publish takes such an archive.\n',
  )
  process.exitCode = 1
}
