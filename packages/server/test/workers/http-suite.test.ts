/**
 * Some of the HTTP suite, on a service of three threads: what one thread answers, three do. All of it runs with
 * PROPERTY_EVENTS_TEST_ENGINES=threads, but for the tests that look into the log.
 */
process.env['PROPERTY_EVENTS_TEST_ENGINES'] = 'threads'
await import('../http/list.test.ts')
await import('../http/caching.test.ts')
