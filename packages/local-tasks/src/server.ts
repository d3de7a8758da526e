/**
 * The local Cloud Tasks server: gRPC and REST of v2 and its beta versions on a loopback port for the unmodified `@google-cloud/tasks`, and the
 * emulator routes of `firebase-admin`. Owns listening and the mapping of errors to statuses. grpc-js answers unknown calls with UNIMPLEMENTED.
 */

import { randomInt } from 'node:crypto';
import { iamCalls } from '@cairn/local-kit/iam/policies';
import { type RestService, unaryRest } from '@cairn/local-kit/rest/unary-rest';
import type { StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';
import type { ServerClock } from '@cairn/local-kit/time/clock';
import { frameServer } from '@cairn/local-kit/wire/frame-server';
import { grpcStatusOf } from '@cairn/local-kit/wire/grpc-refusal';
import { loadProtocol, onlyScopes, serviceDefinition } from '@cairn/local-kit/wire/grpc-service';
import { toJson } from '@cairn/local-kit/wire/proto-json';
import { listenForBoth } from '@cairn/local-kit/wire/shared-port';
import { Server, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { Dispatch } from './dispatch/attempt.ts';
import { toAppEngine } from './dispatch/to-app-engine.ts';
import { adminQueueCall, MAX_BODY_BYTES } from './http/admin-queue.ts';
import { bufferTaskCall } from './http/buffer-task.ts';
import { locationCalls } from './locations/calls.ts';
import { locationsProtocol } from './locations/protocol.ts';
import type { QueueConfig } from './model.ts';
import { requireQueue } from './names.ts';
import { type RegistryCounts, TaskRegistry } from './registry.ts';
import { cloudTasksService } from './service.ts';
import { TaskStore } from './storage.ts';
import { lateService } from './versions/services.ts';
import { callsOf } from './versions/translate.ts';
import { V2BETA2 } from './versions/v2beta2.ts';
import { V2BETA3 } from './versions/v2beta3.ts';

export interface TasksServerOptions {
  readonly storage: StorageChoice;
  /** 0 or absent: any free port. */
  readonly port?: number;
  readonly clock: ServerClock;
  readonly dispatch: Dispatch;
  /** URL of a queue's function, for tasks without a URL. */
  readonly functionUrl?: (name: string) => string;
  /** URL of the app that receives App Engine tasks of every service; without it such tasks are refused. */
  readonly appEngineUrl?: string;
  /** Source of the ids of unnamed tasks: unique, decimal digits. */
  readonly freshTaskId: () => string;
}

export interface TasksServer {
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly counts: Readonly<RegistryCounts>;
  /** Creates the queue, or updates its limits and retry rules and keeps its state and tasks. */
  ensureQueue(config: QueueConfig): void;
  /** Starts dispatching. Until then tasks are accepted and wait. */
  start(): void;
  /** Starts no further dispatch; calls are still served. */
  quiesce(): void;
  stop(): Promise<void>;
}

/** Names the server in the text of a defect. */
const SERVER = 'Local Cloud Tasks server';
const SERVICE = 'google.cloud.tasks.v2.CloudTasks';
const LOCATIONS = 'google.cloud.location.Locations';

/** Decimal digits, like those of Cloud Tasks; unique by 94 random bits. */
export function randomTaskId(): string {
  return `${randomInt(2 ** 47)}${randomInt(2 ** 47)}`;
}

export async function startTasksServer(options: TasksServerOptions): Promise<TasksServer> {
  const store = new TaskStore(options.storage);
  try {
    return await serve(store, options);
  } catch (error) {
    store.close();
    throw error;
  }
}

async function serve(store: TaskStore, options: TasksServerOptions): Promise<TasksServer> {
  const { clock, freshTaskId, appEngineUrl } = options;
  const dispatch = toAppEngine(options.dispatch, appEngineUrl);
  const registry = new TaskRegistry({ store, clock, dispatch });
  const now = () => clock.now();
  const requireResource = (name: string) => void registry.queue(requireQueue(name));
  const calls = cloudTasksService({ registry, now, freshTaskId, hasAppEngine: appEngineUrl !== undefined });
  const access = iamCalls({ store: store.policies, now, requireResource });
  const server = new Server();
  const protocol = loadProtocol('@google-cloud/tasks', 'build/protos/protos.json', (json) =>
    onlyScopes(json, 'google.cloud.tasks.v2', 'google.iam', 'google.rpc', 'google.type'),
  );
  const definition = serviceDefinition(protocol, SERVICE);
  const implementation = implementationOf({ ...calls, ...access });
  const betas = [V2BETA2, V2BETA3].map((version) =>
    lateService(version, implementationOf(callsOf(version, calls, access))),
  );
  const locations = locationsOf('v2');
  for (const served of [{ definition, implementation }, locations, ...betas])
    server.addService(served.definition, served.implementation);
  const admin = {
    protocol,
    createTask: calls.CreateTask,
    deleteTask: calls.DeleteTask,
    functionUrl: options.functionUrl ?? ((name: string) => `http://127.0.0.1/${name}`),
  };
  const taskType = protocol.lookupType('google.cloud.tasks.v2.Task');
  const buffering = {
    queue: (name: string) => registry.queue(name),
    createTask: (request: Parameters<typeof calls.CreateTask>[0]) => ({
      task: toJson(taskType, taskType.fromObject(calls.CreateTask(request))),
    }),
  };
  const http = unaryRest({
    services: [{ protocol: protocol.lookupService(SERVICE), definition, implementation }, locations],
    loadedLater: {
      '/v1/': () => [locationsOf('v1')],
      ...Object.fromEntries(
        betas.map(({ id, described }) => [`/${id}/`, () => [described(), locationsOf(id)]]),
      ),
    },
    name: SERVER,
    maxBodyBytes: MAX_BODY_BYTES,
    otherwise: async (request, path) =>
      (await adminQueueCall(request, path, admin)) ?? bufferTaskCall(request, path, buffering),
  });
  const port = await listenForBoth(
    { grpc: server, http, frames: frameServer([{ definition, implementation }]) },
    options.port ?? 0,
  );
  return {
    host: port.host,
    counts: registry.counts,
    ensureQueue(config) {
      if (!registry.hasQueue(config.name)) registry.createQueue(config);
      else
        registry.configureQueue({
          ...registry.queue(config.name),
          rateLimits: config.rateLimits,
          retry: config.retry,
        });
    },
    start: () => registry.start(),
    quiesce: () => registry.quiesce(),
    async stop() {
      registry.stop();
      port.close();
      store.close();
    },
  };
}

/** @param version prefix of its REST paths */
function locationsOf(version: string): RestService {
  const root = protobuf.Root.fromJSON(locationsProtocol(version) as unknown as protobuf.INamespace);
  return {
    protocol: root.lookupService(LOCATIONS),
    definition: serviceDefinition(root, LOCATIONS),
    implementation: implementationOf(locationCalls),
  };
}

const implementationOf = (calls: object) =>
  Object.fromEntries(
    Object.entries(calls).map(([name, handler]) => [name, unary(handler as (request: never) => object)]),
  );

function unary(handler: (request: never) => object) {
  return (call: ServerUnaryCall<unknown, object>, reply: sendUnaryData<object>) => {
    let response: object;
    try {
      response = handler(call.request as never);
    } catch (error) {
      reply(grpcStatusOf(error, SERVER));
      return;
    }
    reply(null, response);
  };
}
