/**
 * Node's HTTP module, asked for without `import`: an import of it looks at each of its members, one of which is the WebSocket
 * of the browsers, and so loads undici, with which a server asks nobody: 15 MB of an empty process, 4 of this one.
 */
export const { STATUS_CODES, ServerResponse, createServer } = process.getBuiltinModule('node:http')
