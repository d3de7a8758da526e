/**
 * The Firestore server: composition root of this folder. Binds loopback only and serves `google.firestore.v1.Firestore` over gRPC,
 * REST and WebChannel, on one port, to unmodified clients with `FIRESTORE_EMULATOR_HOST`.
 */
import { readFileSync } from 'node:fs';
import type { StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';
import { frameServer } from '@cairn/local-kit/wire/frame-server';
import { listenForBoth } from '@cairn/local-kit/wire/shared-port';
import { Server } from '@grpc/grpc-js';
import { Faults } from './faults.ts';
import { Meter } from './meter.ts';
import { DeclaredIndexes } from './model/index/declared-indexes.ts';
import type { IndexesFile } from './model/index/index-config.ts';
import { MAX_REQUEST_BYTES } from './model/limits.ts';
import { restServer } from './rest/rest-server.ts';
import { implementation } from './service/calls/grpc-adapter.ts';
import { EXPIRY_INTERVAL_MS, Expiry } from './service/expiry.ts';
import { reindex } from './service/reindex.ts';
import { TransactionalStore } from './service/transactional-store.ts';
import { openSqliteStorage } from './storage/sqlite-storage.ts';
import { WebChannels } from './web-channel/web-channels.ts';
import { firestoreProtocol, firestoreService, v1beta1Of } from './wire/protocol.ts';

export { ExportFileError } from './storage/export-file.ts';

export interface FirestoreServerOptions {
  readonly storage: StorageChoice;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Path of a `firestore.indexes.json`. If given, exemptions apply, and queries without their index are refused. */
  readonly indexesFile?: string;
  /** True if `useIndexes` is called before the first request, so that stored entries are not rebuilt twice. */
  readonly awaitsIndexes?: boolean;
  /** Ends this process immediately, for rules that request it; without it they are refused. */
  readonly crash?: () => void;
  /** Interval of the search for expired documents, if the file declares a TTL policy. */
  readonly expiryIntervalMs?: number;
}

export interface FirestoreServer {
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly meter: Meter;
  /** Injected faults; none at first. */
  readonly faults: Faults;
  /**
   * Replaces the declared indexes. Queries without their index are refused from then on; with undefined, none are.
   *
   * @throws Error that names the problem of the declaration
   */
  useIndexes(file: IndexesFile | undefined): void;
  /** Number of streams that currently listen. */
  listening(): number;
  /** Copies all databases to a new file, as of one moment. @throws when the file exists. */
  exportTo(file: string): void;
  /** Replaces all databases by such a copy. @throws ExportFileError, with nothing changed */
  importFrom(file: string): void;
  /** Deletes all documents, of one project or of all. */
  reset(projectId?: string): void;
  stop(): Promise<void>;
}

/** Interval of the search for overdue locks and transactions, whose limits are seconds. */
const SWEEP_INTERVAL_MS = 250;
/** Larger than the limit of a request, so that this server and not the transport refuses it, with a reason. */
const MAX_MESSAGE_BYTES = 2 * MAX_REQUEST_BYTES;

export async function startFirestoreServer(options: FirestoreServerOptions): Promise<FirestoreServer> {
  const storage =
    options.storage.kind === 'sqlite'
      ? openSqliteStorage(options.storage.file, options.storage)
      : openSqliteStorage(undefined);
  try {
    return await serve(storage, options);
  } catch (error) {
    storage.close();
    throw error;
  }
}

async function serve(
  storage: ReturnType<typeof openSqliteStorage>,
  options: FirestoreServerOptions,
): Promise<FirestoreServer> {
  const clock = options.clock ?? Date.now;
  const indexes = new DeclaredIndexes();
  if (options.indexesFile)
    indexes.declare(JSON.parse(readFileSync(options.indexesFile, 'utf8')) as IndexesFile);
  if (!options.awaitsIndexes) reindex(storage, indexes);
  const store = new TransactionalStore({ storage, clock, indexes });
  const meter = new Meter(clock);
  const faults = new Faults(options.crash);
  const context = { store, meter, faults };
  const expiry = new Expiry(context, { indexes, clock });
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
  });
  const service = firestoreService();
  const calls = implementation(service, context);
  server.addService(service, calls);
  server.addService(v1beta1Of(service), calls);
  const protocol = firestoreProtocol();
  const rest = restServer({
    protocol,
    service,
    context,
    channels: new WebChannels({ protocol, service, calls }),
    reset: (database) => store.clear([database]),
  });
  const frames = frameServer([{ definition: service, implementation: calls, listeners: ['Listen'] }]);
  const port = await listenForBoth({ grpc: server, http: rest, frames }, options.port ?? 0);
  const sweeper = setInterval(() => store.sweep(), SWEEP_INTERVAL_MS);
  sweeper.unref();
  let expiring = Promise.resolve();
  const expirer = setInterval(() => {
    expiring = expiring.then(() => expiry.step());
  }, options.expiryIntervalMs ?? EXPIRY_INTERVAL_MS);
  expirer.unref();
  return {
    host: port.host,
    meter,
    faults,
    useIndexes: (file) => {
      indexes.declare(file);
      reindex(storage, indexes);
    },
    listening: () => store.listeners.count,
    exportTo: (file) => storage.exportTo(file),
    importFrom: (file) => {
      storage.importFrom(file);
      // The documents are replaced even if the new indexes cannot be built.
      store.startAnew();
      reindex(storage, indexes);
    },
    reset: (projectId) => store.clear(store.databases.names(projectId)),
    stop: async () => {
      clearInterval(sweeper);
      clearInterval(expirer);
      store.listeners.cut();
      port.close();
      await expiring;
      storage.close();
    },
  };
}
