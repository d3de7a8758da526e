/** Requests and answers of one call in JSON, as its gRPC handler takes and gives them. */

import type { ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { fromJson, toJson } from '../wire/proto-json.ts';

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
