/** A server in this process and the unmodified client that talks to it, for the tests of this folder. */
import { Firestore } from '@google-cloud/firestore';
import {
  type FirestoreServer,
  type FirestoreServerOptions,
  startFirestoreServer,
} from '../../../../packages/local-firestore/src/server.ts';

export interface Bench {
  readonly server: FirestoreServer;
  readonly db: Firestore;
  /** Another client of the same database. */
  client(projectId?: string): Firestore;
  stop(): Promise<void>;
}

/** The client looks for Google's metadata server unless told that there is none. */
process.env.METADATA_SERVER_DETECTION = 'none';

export const PROJECT = 'demo-cairn';

export async function startBench(options: Partial<FirestoreServerOptions> = {}): Promise<Bench> {
  const server = await startFirestoreServer({ storage: { kind: 'memory' }, ...options });
  const clients: Firestore[] = [];
  const client = (projectId = PROJECT) => {
    const made = connect(server.host, projectId);
    clients.push(made);
    return made;
  };
  const stop = async () => {
    await Promise.all(clients.map((c) => c.terminate()));
    await server.stop();
  };
  return { server, db: client(), client, stop };
}

export function connect(host: string, projectId = PROJECT): Firestore {
  const [name, port] = host.split(':') as [string, string];
  return new Firestore({
    projectId,
    host: name,
    port: Number(port),
    ssl: false,
    customHeaders: { Authorization: 'Bearer owner' },
  });
}
