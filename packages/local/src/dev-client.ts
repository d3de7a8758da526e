/**
 * Writes the API client of the development key. Uses gRPC directly, because loading the client library for one write would
 * take a third of the start-up time.
 */
import { createHash } from 'node:crypto';
import { loadProtocol, onlyScopes, serviceDefinition } from '@cairn/local-kit/wire/grpc-service';
import { credentials, Metadata, makeGenericClientConstructor, type ServiceError } from '@grpc/grpc-js';

interface DevClient {
  /** `host:port` of the Firestore server. */
  readonly firestore: string;
  readonly projectId: string;
  readonly database: string;
  readonly collectionPrefix: string;
  readonly secret: string;
  readonly now: number;
}

export const DEV_CLIENT_ID = 'dev';

/** Time limit for Firestore to respond; only a missing external server reaches it. */
const DEADLINE_MS = 10_000;

type Commit = (
  request: object,
  metadata: Metadata,
  options: { deadline: number },
  done: (error: ServiceError | null) => void,
) => void;

/** Creates or replaces `clients/dev`, so that the key printed at start is always valid. */
export async function writeDevClient({
  firestore,
  projectId,
  database: databaseId,
  collectionPrefix,
  secret,
  now,
}: DevClient) {
  const definition = serviceDefinition(
    loadProtocol('@google-cloud/firestore', 'build/protos/v1.json', (json) =>
      onlyScopes(json, 'google.firestore.v1', 'google.rpc', 'google.type'),
    ),
    'google.firestore.v1.Firestore',
  );
  const Client = makeGenericClientConstructor(definition, 'Firestore');
  const client = new Client(firestore, credentials.createInsecure());
  const database = `projects/${projectId}/databases/${databaseId}`;
  const metadata = new Metadata();
  // Sent by client libraries to an emulator to bypass its security rules.
  metadata.set('authorization', 'Bearer owner');
  metadata.set('google-cloud-resource-prefix', database);
  const document = {
    name: `${database}/documents/${collectionPrefix}clients/${DEV_CLIENT_ID}`,
    fields: {
      id: { stringValue: DEV_CLIENT_ID },
      tenantId: { stringValue: 'local' },
      roles: { arrayValue: { values: [{ stringValue: 'installation' }] } },
      secretHash: { stringValue: createHash('sha256').update(secret).digest('hex') },
      createdAt: { timestampValue: { seconds: Math.floor(now / 1000), nanos: (now % 1000) * 1e6 } },
      disabled: { booleanValue: false },
    },
  };
  try {
    await new Promise<void>((resolve, reject) => {
      const commit = (client as unknown as { Commit: Commit }).Commit.bind(client);
      const options = { deadline: now + DEADLINE_MS };
      commit({ database, writes: [{ update: document }] }, metadata, options, (error) =>
        error ? reject(new Error(`Firestore at ${firestore}: ${error.message}`)) : resolve(),
      );
    });
  } finally {
    client.close();
  }
}
