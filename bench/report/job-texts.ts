/** What each job measures, for readers of the document. */

export interface JobText {
  readonly title: string
  readonly text: string
}

/** By the job's name on the command line, in the order of the document. */
export const jobTexts: Readonly<Record<string, JobText>> = {
  pages: {
    title: 'J1: pages',
    text:
      'Pages of 100 events at random over the whole store, with exact totals, plain and gzipped. nginx sends the same bytes ' +
      'as static files (`sendfile`; gzipped: `gzip_static`), which is the limit of loopback and kernel. *In memory*: 200 ' +
      'pages spread evenly over the whole depth, asked from both, all of them kept in memory by the service. *Nothing in ' +
      'memory*: all pages, uniformly, with `--page-memory-bytes 0`; what is read comes from the file of ready-made pages ' +
      'through the page cache of the kernel. Then other sizes, one category, and windows of a month, which begin in the ' +
      'middle of whatever was made ready.',
  },
  'pages-beside-peers': {
    title: 'J1: beside what people would use instead',
    text:
      'The same events in each peer, a page of 100 at random; ours with nothing in memory. *The usual way*: PostgreSQL, ' +
      '`bigserial`, Fastify and `JSON.stringify`, the key looked up by a query; with `LIMIT … OFFSET` and `count(*)` at the ' +
      'median depth (2 connections), and with ranges behind an id and no total. *Redis and webdis*: a sorted set, items and ' +
      'total by one Lua call, in Redis’ own format; nothing is kept on disk and no key is looked up. *express-pouchdb*: its ' +
      'changes feed with documents, on LevelDB; it was filled with fewer events, which it says.',
  },
  'pages-postgres': {
    title: 'J1: on PostgreSQL',
    text:
      'Ranges that this node has read before, with nothing in memory, beside the same pages of the same events from SQLite; ' +
      'other sizes, one category and windows of a month as above. At most 100,000 events. PostgreSQL runs on the core of the service; its processor time is counted with ours.',
  },
  depth: {
    title: 'J1: depth',
    text:
      'Events of 500 bytes: the first page and the last one of a large store, and pages at random over it and over a store a ' +
      'hundredth its size.',
  },
  'depth-postgres': {
    title: 'J1: depth on PostgreSQL',
    text:
      'The first and the last page of the same events in both engines, read from the store each time, with nothing ' +
      'ready-made. The processor time of PostgreSQL is counted with ours.',
  },
  events: {
    title: 'J2: one event by id',
    text:
      'Ids spread evenly over the whole store, at most 18,000 of them (so many files nginx can keep open), at random; nginx ' +
      'sends the same bytes as one file each. *Fastify, a ready buffer*: one of them from memory, without a key or a look-up.',
  },
  'catch-up': {
    title: 'J3: catching up from the beginning',
    text:
      'One client reads all events in pages of 1,000, one after the other over one connection, and throws them away. nginx ' +
      'sends the same bytes as files. A request here is a page; a run is the whole store.',
  },
  'reading-postgres': {
    title: 'J2, J3 and J6 on PostgreSQL',
    text:
      'The same events on both engines, all of them read before by that node, with the default settings: one event by its id (ids as above), ' +
      'everything in pages of 1,000 in their order, and a start. At most 100,000 events. The processor time of PostgreSQL is ' +
      'counted with ours, but for the start.',
  },
  publish: {
    title: 'J4: durable publishing, SQLite',
    text:
      'Answers leave after the commit is flushed. The bare loop writes the same rows into the same tables with the same ' +
      'durability, ready-made: no HTTP, no checks, no key. For the loop a request is a commit. *The usual way*: Fastify and ' +
      'better-sqlite3 on one thread, one table with two indexes, a row for each event and one transaction a request; nothing ' +
      'is checked but the key.',
  },
  'publish-postgres': {
    title: 'J4: durable publishing, PostgreSQL',
    text:
      'PostgreSQL and the service share a core. The bare loops write the same rows into the same tables: all by one statement ' +
      '(`unnest`), or the events by `COPY` and the rest by one statement in the same transaction. *The usual way* has one ' +
      'table, no order that readers can rely on, and inserts row by row in one transaction a request.',
  },
  'publish-and-read': {
    title: 'J4 and J1 at the same time',
    text:
      'One service, pages of 100 at random over at most 100,000 events with 16 connections, and publishing as fast as it goes, ' +
      'alone and together. Both load generators share a core.',
  },
  'publish-and-read-postgres': {
    title: 'J4 and J1 at the same time, PostgreSQL',
    text: 'The same on PostgreSQL, which shares the core of the service.',
  },
  fairness: {
    title: 'J4: what tenants notice of each other',
    text:
      'One tenant publishes 20 single events a second, each when it is due; its times count from then, so that a service that ' +
      'stands still is seen by all who would have come meanwhile. Alone; beside three tenants that each publish one batch of ' +
      '1,000 events after another; and while another session holds the feed of a further tenant, who goes on publishing, for as ' +
      'long as the run takes. The last also beside 50 publishers of single events.',
  },
  idle: {
    title: 'J5: polls that find nothing',
    text:
      '50 clients ask for the page behind the last event, with its tag and without one, and for everything newer than the ' +
      'newest event that they have (`from`), which is the poll of a client of the contract. The yardsticks are a bare Node `http` ' +
      'handler that answers 304 to everything, and Fastify with a 304 and with that answer ready in memory.',
  },
  'start-up': {
    title: 'J6: start with a full store',
    text:
      'From starting the program to the answer to the first page, from the middle of the store. A request here is a start; ' +
      'processor time is that of one start.',
  },
  memory: {
    title: 'Memory',
    text:
      'Resident memory of the service with its default settings, which keep up to 64 MiB of pages: after the start with ' +
      '10,000 events and with all, and the largest under load.',
  },
  transports: {
    title: 'The two transports',
    text:
      'The same reads by connections on the bare socket and by Node’s HTTP alone (`--plain-connections off`), and the memory ' +
      'that waiting and resting connections add ([0011](decisions/0011-plain-connections-on-the-bare-socket.md)).',
  },
  soak: {
    title: 'Memory over time',
    text:
      'Pages, gzipped pages and single publishes at the same time, each as fast as it goes. The figures are those of plain ' +
      'pages; memory is the largest of a quarter.',
  },
  tenants: {
    title: '10,000 tenants in one store',
    text:
      'Durable publishing spread over 10,000 feeds, through one node and two, and telling each of 10,000 clients once that ' +
      'nothing is new. Nodes and PostgreSQL share a core.',
  },
  webhooks: {
    title: 'Webhooks',
    text:
      '1,000 endpoints of 200 tenants, four requests at once to each, and one receiver on loopback (`bench/webhooks.ts`); a request here is a message. ' +
      '*The bare loop* signs by Standard Webhooks and posts with Node’s `http` over as many kept connections, and keeps no account of ' +
      'anything. *The job queue* has a row a message on PostgreSQL, taken with `FOR UPDATE SKIP LOCKED`, posted with `fetch`, and ' +
      'deleted. Every event has arrived at each endpoint, and samples were verified. *First try*: from the moment an event was due to be ' +
      'published until it came to each of its endpoints. *At rest* a request is a second. What idle endpoints cost others is measured ' +
      'with a tenant that has none, beside the same store with `--webhooks off`.',
  },
}
