/**
 * The Firestore v1 service for grpc-js: the client's own protocol description, in which documents and values are replaced by bytes.
 * A sub-message and a bytes field have the same encoding, so the wire format is unchanged, and this server decodes a document at most
 * once, with its own codec.
 */

import {
  loadProtocol,
  onlyScopes,
  type ProtocolJson,
  serviceDefinition,
} from '@cairn/local-kit/wire/grpc-service';
import type { ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';

const PACKAGE = '@google-cloud/firestore-api';
const DESCRIPTION = 'build/protos/protos.json';
const SERVICE = 'google.firestore.v1.Firestore';
const OPAQUE = new Set(['Document', 'Value', 'ArrayValue']);

const onlyNeeded = (json: ProtocolJson) =>
  onlyScopes(json, 'google.firestore.v1', 'google.rpc', 'google.type');

/** The complete protocol description, for code that needs every field by name. */
export function firestoreProtocol(): protobuf.Service {
  return loadProtocol(PACKAGE, DESCRIPTION, (json) => withVerify(onlyNeeded(json))).lookupService(SERVICE);
}

export function firestoreService(): ServiceDefinition {
  const root = loadProtocol(PACKAGE, DESCRIPTION, (json) => leaveOpaque(withVerify(onlyNeeded(json))));
  const definition = serviceDefinition(root, SERVICE, { plainAnswers: true });
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      { ...method, requestDeserialize: measured(method.requestDeserialize) },
    ]),
  );
}

/** The same calls under the earlier name of the service, whose messages have the same encoding. */
export function v1beta1Of(service: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(service).map(([name, method]) => [
      name,
      { ...method, path: method.path.replace('.v1.', '.v1beta1.') },
    ]),
  );
}

const sizes = new WeakMap<object, number>();

/** Size of a request on the wire, which production limits. */
export function requestBytes(request: object): number {
  return sizes.get(request) ?? 0;
}

function measured(decode: (bytes: Buffer) => object): (bytes: Buffer) => object {
  return (bytes) => {
    const request = decode(bytes);
    sizes.set(request, bytes.length);
    return request;
  };
}

/**
 * Adds the write that verifies that a document is unchanged since it was read. Clients in browsers and phones send it for documents that a
 * transaction only reads. Their protocol descriptions have it; the published one does not.
 */
export function withVerify(json: ProtocolJson): ProtocolJson {
  const { fields, oneofs } = v1(json).nested?.Write ?? {};
  if (!fields || !oneofs?.operation) throw new Error('The protocol definition has no known Write message.');
  fields.verify = { type: 'string', id: 5 };
  oneofs.operation.oneof.push('verify');
  return json;
}

function leaveOpaque(json: ProtocolJson): ProtocolJson {
  rewrite(v1(json));
  return json;
}

function v1(json: ProtocolJson): ProtocolJson {
  return json.nested?.google?.nested?.firestore?.nested?.v1 as ProtocolJson;
}

function rewrite(scope: ProtocolJson): void {
  for (const field of Object.values(scope.fields ?? {})) {
    if (OPAQUE.has(field.type)) field.type = 'bytes';
  }
  for (const nested of Object.values(scope.nested ?? {})) rewrite(nested);
}
