/** A Firestore server in a separate process, so that it can be killed. Prints `host` once it serves. */
import { startFirestoreServer } from '../../../../packages/local-firestore/src/server.ts';

const [file, port] = process.argv.slice(2) as [string, string];
const server = await startFirestoreServer({ storage: { kind: 'sqlite', file }, port: Number(port) });
console.log(server.host);
