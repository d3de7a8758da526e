/**
 * Converts a service of a client library's own protocol description to a service that grpc-js can serve, so that the messages are
 * exactly those of the unmodified client. Independent of the meaning of calls.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ServiceDefinition } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const require = createRequire(import.meta.url);

/** The part of a protocol description that a server may read or change before loading it. */
export interface ProtocolJson {
  nested?: Record<string, ProtocolJson>;
  fields?: Record<string, { type: string; id?: number }>;
  oneofs?: Record<string, { oneof: string[] }>;
}

/**
 * Loads the JSON protocol description of an installed package, e.g. `build/protos/v1.json`. `reshape` may replace types with others of the
 * same encoding.
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

/** Types of `google.protobuf` that messages use. The other types describe protocols and have as many fields as a service. */
const WELL_KNOWN = /^(?:Timestamp|Duration|Empty|FieldMask|Any|Struct|\w*Value)$/;

/**
 * For `reshape`: keeps only these scopes and the well-known types. Descriptions also contain earlier versions, other services and types of
 * options, which take more than half of the loading time.
 *
 * @param scopes full names, e.g. `google.firestore.v1`
 * @throws Error for a scope that the description does not have
 */
export function onlyScopes(json: ProtocolJson, ...scopes: readonly string[]): ProtocolJson {
  const wellKnown = Object.keys(json.nested?.google?.nested?.protobuf?.nested ?? {})
    .filter((name) => WELL_KNOWN.test(name))
    .map((name) => `google.protobuf.${name}`);
  const trimmedJson: ProtocolJson = { ...json, nested: {} };
  for (const scope of [...scopes, ...wellKnown]) copyScope(json, trimmedJson, scope);
  return trimmedJson;
}

function copyScope(from: ProtocolJson, to: ProtocolJson, scope: string): void {
  const names = scope.split('.');
  const last = names.pop() ?? '';
  let [source, target] = [from, to];
  for (const name of names) {
    source = source.nested?.[name] ?? {};
    target.nested ??= {};
    target.nested[name] ??= { ...source, nested: {} };
    target = target.nested[name];
  }
  const copied = source.nested?.[last];
  if (!copied || !target.nested) throw new Error(`The protocol description has no ${scope}.`);
  target.nested[last] = copied;
}

/**
 * The grpc-js definition of one service: method names as in the protocol (`RunQuery`), messages decoded.
 * `plainAnswers`: the server's answers need no conversion before encoding (numbers for enums, bytes for bytes); an answer that is
 * already bytes is sent unchanged.
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
