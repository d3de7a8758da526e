/**
 * `npm run firestore`: the Firestore server alone, for programs and test suites that have nothing to do with the rest.
 * Owns its flags, what is printed and the exit code: 0 ended when asked, 1 could not start, 2 wrong flags. Unlike the
 * local cloud it refuses no query for want of an index, unless it is given a file of indexes.
 */
import { parseArgs } from 'node:util';
import { type FirestoreServer, type FirestoreServerOptions, startFirestoreServer } from './server.ts';

const USAGE = `npm run firestore -- [options]

  --port N         port on 127.0.0.1 (default: any free one)
  --data FILE      keep documents in FILE, an SQLite database (default: in memory)
  --indexes FILE   a firestore.indexes.json: refuse queries that production would refuse without an index
  --help           print this
`;
const LAST_PORT = 65_535;

const options = optionsOrExit();
try {
  const server = await startFirestoreServer(options);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(server));
  process.stdout.write(`FIRESTORE_EMULATOR_HOST=${server.host}\n`);
} catch (error) {
  process.stderr.write(`firestore: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

function optionsOrExit(): FirestoreServerOptions {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      options: { port: text, data: text, indexes: text, help: { type: 'boolean' } },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    return {
      storage: values.data === undefined ? { kind: 'memory' } : { kind: 'sqlite', file: values.data },
      port: portOf(values.port ?? '0'),
      ...(values.indexes !== undefined && { indexesFile: values.indexes }),
    };
  } catch (error) {
    process.stderr.write(`firestore: ${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** @throws Error for what is no port */
function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= LAST_PORT) return port;
  throw new Error(`--port must be a whole number from 0 to ${LAST_PORT}, not '${text}'`);
}

async function end(server: FirestoreServer): Promise<void> {
  await server.stop();
  process.exit(0);
}
