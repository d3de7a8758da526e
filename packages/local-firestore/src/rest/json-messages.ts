/** Requests and answers of one call in JSON, as its gRPC handler takes and gives them. */
import type { BodyRefusals } from '@cairn/local-kit/http/json-body';
import { fromJson, toJson } from '@cairn/local-kit/wire/proto-json';
import type { ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { MAX_REQUEST_BYTES } from '../model/limits.ts';
import { invalid } from '../model/status.ts';

/** JSON is larger than the encoding (bytes by a third, small numbers more), which is limited afterwards. */
const MAX_BODY_BYTES = 4 * MAX_REQUEST_BYTES;

export const BODY: BodyRefusals = {
  maxBytes: MAX_BODY_BYTES,
  tooLarge: () => invalid(`Request payload size exceeds the limit: ${MAX_BODY_BYTES} bytes.`),
  malformed: (why) => invalid(`Invalid JSON payload received: ${why}`),
};

export interface JsonCall {
  /** @throws JsonShapeError if it is not the JSON of the call's request */
  request(json: unknown): object;
  answer(message: object): unknown;
}

/**
 * Undefined if the protocol has no such call.
 *
 * @param protocol the described protocol, without opaque types
 * @param service the same as gRPC serves it
 */
export function jsonCall(
  name: string,
  protocol: protobuf.Service,
  service: ServiceDefinition,
): JsonCall | undefined {
  const method = protocol.methods[name];
  const definition = service[name];
  if (!method || !definition) return undefined;
  const requestType = method.resolvedRequestType as protobuf.Type;
  const answerType = method.resolvedResponseType as protobuf.Type;
  return {
    request(json) {
      const bytes = requestType.encode(requestType.fromObject(fromJson(requestType, json))).finish();
      return definition.requestDeserialize(Buffer.from(bytes)) as object;
    },
    answer: (message) => toJson(answerType, answerType.decode(definition.responseSerialize(message))),
  };
}
