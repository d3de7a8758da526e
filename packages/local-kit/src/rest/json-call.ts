/** Requests and answers of one call in JSON, as its gRPC handler takes and gives them. */

import type { ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { fromJson, toJson } from '../wire/proto-json.ts';
import { fieldsMask, kept } from './answer-form.ts';

export interface JsonCall {
  /** @throws JsonShapeError if it is not the JSON of the call's request */
  request(json: unknown): object;
  /**
   * @param query may ask for a part of each answer
   * @throws JsonShapeError if the answer cannot have the form that it asks for
   */
  answersIn(query?: URLSearchParams): (message: object) => unknown;
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
    answersIn(query) {
      const mask = query && fieldsMask(answerType, query);
      return (message) => {
        const json = toJson(answerType, answerType.decode(definition.responseSerialize(message)));
        return mask ? kept(json, mask) : json;
      };
    },
  };
}
