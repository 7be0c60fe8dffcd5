// Serves the stage until it is interrupted. See README.md.

import { parseArgs } from 'node:util'

import { serve } from './service.js'

const { values } = parseArgs({ options: { address: { type: 'string', default: '127.0.0.1:7797' } } })
const { server, port } = await serve(values.address)
console.error(`stage listens at ${values.address.replace(/:\d+$/, '')}:${port}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.tryShutdown(() => process.exit(0))
    // Calls that do not end are cut.
    setTimeout(() => process.exit(0), 2000).unref()
  })
}
