/** The services of `google.pubsub.v1` for grpc-js, from the client's own protocol description. */

import { loadProtocol, onlyScopes, serviceDefinition } from '@cairn/local-kit/wire/grpc-service';
import type { ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { LIMITS } from '../model/resources.ts';
import { invalid } from '../model/status.ts';

interface DescribedService {
  readonly definition: ServiceDefinition;
  readonly protocol: protobuf.Service;
}

interface PubsubProtocol {
  readonly publisher: DescribedService;
  readonly subscriber: DescribedService;
  readonly schemas: DescribedService;
  /** IAM of topics, subscriptions, snapshots and schemas, on the same port as in production. */
  readonly iam: DescribedService;
}

export function pubsubProtocol(): PubsubProtocol {
  const root = loadProtocol('@google-cloud/pubsub', 'build/protos/protos.json', (json) =>
    onlyScopes(json, 'google.pubsub.v1'),
  );
  // Taken from another client, whose description is the same, because this client gets the service from its dependencies.
  const iam = loadProtocol('@google-cloud/tasks', 'build/protos/protos.json', (json) =>
    onlyScopes(json, 'google.iam', 'google.type'),
  );
  const service = (name: string, from: protobuf.Root) => ({
    definition: measured(serviceDefinition(from, name, { plainAnswers: true })),
    protocol: from.lookupService(name),
  });
  return {
    publisher: service('google.pubsub.v1.Publisher', root),
    subscriber: service('google.pubsub.v1.Subscriber', root),
    schemas: service('google.pubsub.v1.SchemaService', root),
    iam: service('google.iam.v1.IAMPolicy', iam),
  };
}

const sizes = new WeakMap<object, number>();

/** @throws PubsubError INVALID_ARGUMENT for a request of more than 10 MiB on the wire */
export function checkSize(request: object): void {
  const bytes = sizes.get(request) ?? 0;
  if (bytes > LIMITS.requestBytes) {
    throw invalid(`Request payload size exceeds the limit: ${LIMITS.requestBytes} bytes; it has ${bytes}.`);
  }
}

function measured(service: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(service).map(([name, method]) => {
      const decode = (bytes: Buffer) => {
        const request = method.requestDeserialize(bytes) as object;
        sizes.set(request, bytes.length);
        return request;
      };
      return [name, { ...method, requestDeserialize: decode }];
    }),
  );
}
