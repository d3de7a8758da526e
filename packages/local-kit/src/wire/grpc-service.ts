/**
 * Turns a service of a client library's own protocol description into a service that grpc-js can serve. The
 * messages are therefore exactly those the unmodified client sends. Independent of the meaning of calls.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ServiceDefinition } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const require = createRequire(import.meta.url);

/** The part of a protocol description that a server may read or change before it is loaded. */
export interface ProtocolJson {
  nested?: Record<string, ProtocolJson>;
  fields?: Record<string, { type: string; id?: number }>;
  oneofs?: Record<string, { oneof: string[] }>;
}

/**
 * Loads the JSON protocol description that ships inside an installed package, e.g. `build/protos/v1.json`.
 * `reshape` may replace types by others of the same encoding.
 */
export function loadProtocol(
  packageName: string,
  file: string,
  reshape: (json: ProtocolJson) => ProtocolJson = (json) => json,
): protobuf.Root {
  const entry = require.resolve(packageName);
  const folder = entry.slice(0, entry.lastIndexOf(join('node_modules', packageName)));
  const path = join(folder, 'node_modules', packageName, file);
  return protobuf.Root.fromJSON(reshape(JSON.parse(readFileSync(path, 'utf8'))));
}

/**
 * The grpc-js definition of one service: method names as in the protocol (`RunQuery`), messages decoded.
 * `plainAnswers`: the server answers in the protocol's own terms (numbers for enums, bytes for bytes), so nothing is
 * converted before encoding; an answer that is bytes already is sent as it is.
 */
export function serviceDefinition(
  root: protobuf.Root,
  serviceName: string,
  options: { plainAnswers?: boolean } = {},
): ServiceDefinition {
  const service = root.lookupService(serviceName);
  const definition: Record<string, ServiceDefinition[string]> = {};
  for (const method of service.methodsArray) {
    method.resolve();
    const request = method.resolvedRequestType as protobuf.Type;
    const response = method.resolvedResponseType as protobuf.Type;
    definition[method.name] = {
      path: `/${serviceName}/${method.name}`,
      requestStream: method.requestStream ?? false,
      responseStream: method.responseStream ?? false,
      requestSerialize: encoder(request, false),
      requestDeserialize: (bytes: Buffer) => request.decode(bytes),
      responseSerialize: encoder(response, options.plainAnswers ?? false),
      responseDeserialize: (bytes: Buffer) => response.decode(bytes),
    };
  }
  return definition;
}

function encoder(type: protobuf.Type, plain: boolean): (value: object) => Buffer {
  if (plain) return (value) => (Buffer.isBuffer(value) ? value : (type.encode(value).finish() as Buffer));
  return (value) => Buffer.from(type.encode(type.fromObject(value)).finish());
}
