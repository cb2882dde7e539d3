/**
 * Fastify with a ready buffer, as a program: `node ready-buffer.ts <file>`. Each GET is answered with the bytes of the file, which
 * are read once; one that brings a tag gets a 304. No key, no store: what this costs is the framework and Node's HTTP.
 */
import { readFileSync } from 'node:fs'
import fastify from 'fastify'

const bytes = readFileSync(process.argv[2] ?? '')
const app = fastify()

app.get('/*', (request, reply) => {
  if (request.headers['if-none-match'] !== undefined) return reply.code(304).send()
  return reply.type('application/json').send(bytes)
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
