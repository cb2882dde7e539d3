/** Readers that wait, on a service of three threads: each thread hears of what any of them has appended (PROTOCOL §13). */
process.env['PROPERTY_EVENTS_TEST_ENGINES'] = 'threads'
await import('../http/waiting-for-heads.test.ts')
await import('../http/live-model.test.ts')
