/** The OpenAPI 3.1 document: its head, and how Fastify's routes become its paths. */
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { namedSchemas } from './openapi-schemas.ts'

/** Must be awaited before the first route is registered. */
export async function registerOpenApi(app: FastifyInstance, basePath: string): Promise<void> {
  for (const schema of namedSchemas) app.addSchema(schema)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Property Events',
        version: '1.0.0',
        description:
          'Feeds of property and contact events: list, fetch and publish. Every answer carries `x-request-id`; every error is a `Problem`.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: basePath === '' ? '/' : basePath, description: 'This service.' }],
      tags: [
        { name: 'Reading', description: 'The two operations of each feed.' },
        { name: 'Copying', description: 'Our own reads, for keeping a copy in step.' },
        { name: 'Publishing', description: 'Putting events into a feed.' },
        { name: 'Description', description: 'About the service itself; no key is needed.' },
      ],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'x-api-key',
            description: 'An opaque key, issued by the operator.',
          },
        },
      },
    },
    // Paths stand in the document as they are registered, without the base path: the server's URL carries it.
    stripBasePath: false,
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, index) =>
        typeof json.$id === 'string' ? json.$id : `schema-${index}`,
    },
  })
}

/** The document's text, as committed and as served. */
export function openApiText(app: FastifyInstance): string {
  return `${JSON.stringify(app.swagger(), null, 2)}\n`
}
