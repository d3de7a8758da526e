/**
 * The Firestore v1 service as grpc-js serves it: the client's own protocol description with documents and values left
 * as bytes. A sub-message and a bytes field have the same encoding, so the wire is unchanged, and this server decodes
 * a document once, with its own codec, and only when it has to.
 */
import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadProtocol, type ProtocolJson, serviceDefinition } from '../../wire/grpc-service.ts';

const SERVICE = 'google.firestore.v1.Firestore';
const OPAQUE = new Set(['Document', 'Value', 'ArrayValue']);

export function firestoreService(): ServiceDefinition {
  const root = loadProtocol('@google-cloud/firestore-api', 'build/protos/protos.json', leaveOpaque);
  const definition = serviceDefinition(root, SERVICE, { plainAnswers: true });
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      { ...method, requestDeserialize: measured(method.requestDeserialize) },
    ]),
  );
}

const sizes = new WeakMap<object, number>();

/** How many bytes a request had on the wire: production limits that, whatever the request holds. */
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

function leaveOpaque(json: ProtocolJson): ProtocolJson {
  const google = json.nested?.google as ProtocolJson;
  const firestore = google.nested?.firestore as ProtocolJson;
  rewrite(firestore.nested?.v1 as ProtocolJson);
  return json;
}

function rewrite(scope: ProtocolJson): void {
  for (const field of Object.values(scope.fields ?? {})) {
    if (OPAQUE.has(field.type)) field.type = 'bytes';
  }
  for (const nested of Object.values(scope.nested ?? {})) rewrite(nested);
}
