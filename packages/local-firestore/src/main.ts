#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/**
 * `local-firestore`: the Firestore server alone, for programs and test suites without the local cloud. It refuses queries without
 * an index only if it is given a file of indexes.
 */
import { serve } from '@cairn/local-kit/command/serve';

await serve(
  {
    name: 'local-firestore',
    summary: 'Serves Firestore on this machine until it is interrupted.',
    variable: 'FIRESTORE_EMULATOR_HOST',
    flags: [
      {
        name: 'indexes',
        value: 'FILE',
        help: 'a firestore.indexes.json: refuse queries that need a missing index, as production does',
      },
    ],
    async start({ port, data, sync }, values) {
      const { startFirestoreServer } = await import('./server.ts');
      const indexesFile = values.one('indexes');
      return startFirestoreServer({
        storage: data === undefined ? { kind: 'memory' } : { kind: 'sqlite', file: data, sync },
        port,
        ...(indexesFile !== undefined && { indexesFile }),
      });
    },
  },
  process.argv.slice(2),
);
